import { describe, expect, test } from 'vitest'
import { itemsIn } from '../../../../src/route/cluster/bulk-items.js'
import { seeded } from '../../../support/random/seeded.js'

const answer = (value: unknown, space?: number) => Buffer.from(JSON.stringify(value, undefined, space))
const refused = (reason: unknown) => ({ create: { status: 400, error: { type: 'mapping', reason } } })

describe('the results in an answer', () => {
  test('are read one by one as a parser reads them all, whatever stands in their texts', () => {
    const random = seeded(5)
    const texts = ['"', '\\', '}', '{"', ']},', '],"items":[', 'é😀', '\n', 'a']
    for (let round = 0; round < 300; round += 1) {
      const items = Array.from({ length: random.below(6) }, () => {
        const text = Array.from({ length: random.below(6) }, () => random.pick(texts)).join('')
        return random.chance(0.5) ? refused(text) : { index: { _id: text, status: 201, failure_store: 'used' } }
      })
      const [errors, took] = [true, 7]
      const bytes = random.pick([
        answer({ errors, items }),
        answer({ items, took, errors }),
        answer({ took, errors, items, more: { items: [1] } }),
        answer({ errors, items }, 2),
        answer({ more: { items: [{}] }, items }),
      ])
      const read = itemsIn(bytes)
      const expected = items.map(item => Object.values(item)[0])
      expect(Array.from(read ?? [], ({ status }) => status)).toEqual(expected.map(one => one?.status))
      expect(Array.from(read ?? [], ({ id }) => id)).toEqual(
        expected.map(one => (one && '_id' in one ? one._id : undefined)),
      )
      expect(Array.from(read ?? [], ({ error }) => error)).toEqual(
        expected.map(one => (one && 'error' in one ? one.error : undefined)),
      )
      const some = items.flatMap((_, at) => (random.chance(0.5) ? [at] : []))
      expect([...(read?.only(some) ?? [])]).toEqual(some.map(at => read?.at(at)))
    }
  })

  test('are none if the answer is no whole JSON object with a list of objects', () => {
    const whole = answer({ errors: true, items: [refused('a'), refused('b')] }).toString()
    for (let end = 0; end < whole.length; end += 1) expect(itemsIn(Buffer.from(whole.slice(0, end)))).toBeUndefined()
    for (const text of [
      `${whole}x`,
      whole.replace('},{', '},'),
      whole.replace('},{', '} {'),
      whole.replace('}]', '},]'),
      whole.replace('[{', '[,{'),
      '{"items":[1]}',
      '{"items":[null]}',
      '{"items":{}}',
      '{"errors":false}',
      '[]',
      '',
    ])
      expect(itemsIn(Buffer.from(text)), text).toBeUndefined()
    expect(itemsIn(Buffer.from('{"errors":false,"items":[]}'))).toHaveLength(0)
  })

  test('are none if the answer has levels without end', () => {
    const deep = '['.repeat(6000) + ']'.repeat(6000)
    expect(itemsIn(Buffer.from(`{ "items":[{"create":{"status":201,"x":${deep}}}],"errors":false}`))).toBeUndefined()
    expect(itemsIn(Buffer.from(`{ "x":${deep},"items":[]}`))).toBeUndefined()
  })

  test('that cannot be read have no status', () => {
    for (const item of ['{}', '{"create":1}', '{"create":{"status":"201"}}', '{"create":{"status":}}'])
      expect(itemsIn(Buffer.from(`{"items":[${item}]}`))?.at(0).status).toBeUndefined()
  })
})
