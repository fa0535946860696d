/** A table that others change at random moments, read into lines by processes that stop anywhere, minutes apart. */
import { expect, test } from 'vitest'
import type { Place } from '../../../../../src/base/flow.js'
import { readTable } from '../../../../../src/features/tables/reading/read-table.js'
import { rowLines } from '../../../../../src/features/tables/reading/row.js'
import { placeBehind, rowsSoFar } from '../../../../../src/features/tables/reading/rows-so-far.js'
import { selectTable } from '../../../../../src/features/tables/reading/select-table.js'
import { seeded } from '../../../../support/random/seeded.js'
import { FakeInstance, idOf } from '../../../../support/servers/fake-instance.js'

const seeds = Array.from({ length: 60 }, (_, seed) => seed)

const check = async (seed: number) => {
  const random = seeded(seed)
  const instance = new FakeInstance()
  for (let n = 0; n < 200; n += 1) instance.insert(idOf(random.below(100_000)))
  instance.now += 3_600_000
  const deleted = new Set<string>()
  let changes = 150
  const change = () => {
    for (let n = random.below(5); n > 0 && changes > 0; n -= 1, changes -= 1) {
      const id = random.pick([...instance.rows.keys()])
      const what = random.below(3)
      if (what === 0) instance.insert(idOf(100_000 + changes))
      else if (what === 1) instance.update(id)
      else if (instance.rows.delete(id)) deleted.add(id)
    }
    instance.now += random.below(5000)
  }
  instance.before = change

  const selected = selectTable(instance, { table: 'incident', pageSize: 1 + random.below(40) })
  let written = Buffer.alloc(0)
  let begun: Place | undefined
  let isOver = false
  while (!isOver) {
    const before = await rowsSoFar(pieces(written))
    written = written.subarray(0, before.bytes)
    const stopsBehind = random.chance(0.8) ? written.length + random.below(9000) : Infinity
    const rows = readTable({
      instance,
      ...selected,
      mode: 'once',
      place: begun === undefined ? undefined : placeBehind(begun, before),
      known: before.ids,
      signal: new AbortController().signal,
      begun: () => undefined,
      started: place => (begun ??= place),
      counted: () => undefined,
      note: () => undefined,
    })
    isOver = true
    for await (const page of rows) {
      written = Buffer.concat([written, ...rowLines(page.rows)])
      if (written.length <= stopsBehind) continue
      written = written.subarray(0, stopsBehind)
      isOver = false
      break
    }
    // Longer than the overlap of two readings.
    instance.now += 600_000
    if (!isOver) change()
  }

  const lines = written.toString().trimEnd().split('\n')
  const ids = lines.map(line => (JSON.parse(line) as { sys_id: string }).sys_id)
  expect(new Set(ids).size).toBe(ids.length)
  expect([...instance.rows.keys()].filter(id => !ids.includes(id))).toEqual([])
  expect(ids.filter(id => !instance.rows.has(id) && !deleted.has(id))).toEqual([])
}
test.each(seeds.slice(0, 15))('each row comes once, however often the reading was stopped (seed %i)', check)
test.each(seeds.slice(15))(
  'each row comes once, however often the reading was stopped (seed %i)',
  { tags: 'long' },
  check,
)

async function* pieces(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 1000) yield await Promise.resolve(bytes.subarray(at, at + 1000))
}
