import { describe, expect, test } from 'vitest'
import { readDeadLetter } from '../../../../src/pipeline/bulk/dead-letter.js'
import { withoutMetadata } from '../../../../src/pipeline/bulk/without-metadata.js'
import { bulkFormOf } from '../../../../src/base/operation.js'

describe('a dead letter of a script', () => {
  const read = (more: object) => {
    const record = { operation: 'update', origin: { input: 'a', document: 1 }, id: 'a', document: {}, ...more }
    return readDeadLetter(Buffer.from(JSON.stringify(record)), { input: 'letters', document: 1 })
  }

  test.each([{ source: 'ctx.op = "none"' }, { id: 'counter' }])('keeps %o', script => {
    expect(read({ script })).toMatchObject({ destination: { script } })
  })

  test.each(['text', null, {}, { source: '' }, { source: 1 }, { source: 'a', id: 'b' }])(
    'with %o is never sent as a plain update',
    script => expect(read({ script })).toMatchObject({ problem: expect.stringContaining('script') as string }),
  )

  test('runs for no other operation', () => {
    expect(read({ operation: 'index', script: { id: 'a' } })).toHaveProperty('problem')
  })

  test.each(['text', null, [], {}, { version: 1 }, { version: 1, version_type: 'internal' }])(
    'with the condition %o is not sent either',
    condition => expect(read({ operation: 'index', condition })).toHaveProperty('problem'),
  )
})

test('a script stands around the parameters, whatever is in it', () => {
  const source = 'ctx._source.a = "é\\n"'
  const { opening, closing } = bulkFormOf('upsert', { script: { source } })
  expect(JSON.parse(`${opening}{"n":1}${closing}`)).toEqual({
    script: { source, lang: 'painless', params: { n: 1 } },
    upsert: {},
    scripted_upsert: true,
  })
})

describe('metadata', () => {
  const fields = { ifSeqNoField: '_seq_no', ifPrimaryTermField: '_primary_term' }
  test.each([
    ['{"_seq_no":1,"_primary_term":2}', '{}'],
    ['{"_seq_no":1,"a":"_seq_no","_primary_term":2}\r\n', '{"a":"_seq_no"}'],
    [' { "a" : [1, 2] , "_seq\\u005fno" : {"b":"}"} , "é":1.0 }', '{"a" : [1, 2],"é":1.0}'],
    ['{"a":{"_seq_no":1}}', '{"a":{"_seq_no":1}}'],
  ])('leaves %j as long as it was', (line, left) => {
    const sent = withoutMetadata(Buffer.from(line), fields)
    expect(sent.toString().trim()).toBe(left)
    expect(sent).toHaveLength(Buffer.byteLength(line))
    expect(/[\r\n]*$/.exec(sent.toString())?.[0]).toBe(/[\r\n]*$/.exec(line)?.[0])
  })

  test('stays, if other fields hold the numbers', () => {
    const line = Buffer.from('{"_seq_no":1}')
    expect(withoutMetadata(line, { ifSeqNoField: 'm.s', ifPrimaryTermField: 'm.t' })).toBe(line)
  })
})
