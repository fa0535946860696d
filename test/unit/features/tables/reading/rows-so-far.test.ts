import { expect, test } from 'vitest'
import { placeBehind, rowsSoFar } from '../../../../../src/features/tables/reading/rows-so-far.js'
import { idOf } from '../../../../support/servers/fake-instance.js'

const ids = Array.from({ length: 50 }, (_, n) => idOf(n)).toSorted()
const line = (id: string) => `${JSON.stringify({ sys_id: id, short_description: 'ä' })}\n`
const text = ids.map(line).join('')

/** As a file comes: cut anywhere. */
async function* pieces(of: string | Buffer, size: number) {
  const bytes = Buffer.from(of)
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size))
}

test.each([1, 7, 64, 1 << 16])('all whole lines count, in pieces of %i bytes', async size => {
  const found = await rowsSoFar(pieces(text, size))
  expect(found).toMatchObject({ rows: 50, bytes: Buffer.byteLength(text), last: ids.at(-1) })
  expect(ids.every(id => found.ids.has(id))).toBe(true)
})

test('a line that was being written does not count, wherever it was cut', async () => {
  const whole = Buffer.from(ids.slice(0, 2).map(line).join(''))
  const first = Buffer.byteLength(line(ids[0] ?? ''))
  for (let end = 0; end < whole.length; end += 1) {
    const found = await rowsSoFar(pieces(whole.subarray(0, end), 16))
    const isOne = end >= first
    expect(found).toMatchObject({ rows: isOne ? 1 : 0, bytes: isOne ? first : 0, last: isOne ? ids[0] : undefined })
  }
})

test('the reading by sys_id ends where the order does, and what follows is known', async () => {
  const [a = '', b = '', c = '', d = ''] = ids
  const found = await rowsSoFar(pieces([a, c, d, b].map(line).join(''), 100))
  expect(found).toMatchObject({ rows: 4, last: d })
  expect(found.ids.has(b)).toBe(true)
  expect(placeBehind({ v: 1 }, found)).toEqual({ v: 1, cursor: { id: d } })
})

test('damage in the middle ends the list', async () => {
  const torn = `${text}${'\0'.repeat(100)}\n${line(idOf(99))}`
  expect(await rowsSoFar(pieces(torn, 100))).toMatchObject({ rows: 50, bytes: Buffer.byteLength(text) })
})

test('nothing is the start', async () => {
  const found = await rowsSoFar(pieces('', 1))
  expect(found).toMatchObject({ rows: 0, bytes: 0 })
  expect(placeBehind({ v: 1 }, found)).toEqual({ v: 1 })
})
