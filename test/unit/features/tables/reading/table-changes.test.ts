/** A table that others change at random moments, read by processes that stop at random rows. */
import { expect, test } from 'vitest'
import type { Place } from '../../../../../src/base/flow.js'
import { tableSource } from '../../../../../src/features/tables/reading/table-source.js'
import { type Seeded, seeded } from '../../../../support/random/seeded.js'
import { FakeInstance, type FakeRow, idOf } from '../../../../support/servers/fake-instance.js'

/** Commits some changes: with the time of now, or of a little while ago, as a slow transaction does. */
function change(instance: FakeInstance, random: Seeded): void {
  const now = instance.now
  for (let n = random.below(6); n > 0; n--) {
    instance.now = now - (random.chance(0.3) ? random.below(50_000) : 0)
    const ids = [...instance.rows.keys()]
    const what = random.below(10)
    if (what < 3) instance.insert(idOf(random.below(100_000)), { state: '1' })
    else if (what < 9) instance.update(random.pick(ids), { state: String(random.below(5)) })
    else instance.rows.delete(random.pick(ids))
  }
  instance.now = now + random.below(15_000)
}

const seeds = Array.from({ length: 60 }, (_, seed) => seed)

const check = async (seed: number) => {
  const random = seeded(seed)
  const instance = new FakeInstance()
  instance.now -= 3_600_000
  for (let n = 0; n < 50 + random.below(150); n++) instance.insert(idOf(random.below(100_000)), { state: '0' })
  instance.now += 3_600_000
  let changes = 40
  instance.before = () => {
    if (changes-- > 0) change(instance, random)
  }
  const index = new Map<string, FakeRow>()
  const gone = () => [...index.keys()].filter(id => !instance.rows.has(id))
  let place: Place | undefined
  let isOver = true
  for (let run = 0, quiet = 0; quiet < 2; run++) {
    expect(run).toBeLessThan(60)
    const source = tableSource(instance, { id: 0, table: 'incident', pageSize: 1 + random.below(40) })
    // What goes on with a reading of restless times leaves what was committed late to the next one.
    const isQuiet = changes <= 0 && isOver
    const stopsAt = changes > 0 && random.chance(0.7) ? 1 + random.below(120) : Infinity
    const stopping = new AbortController()
    let read = 0
    isOver = true
    reading: for await (const chunk of source.open(stopping.signal, 0, place)) {
      for (const line of Buffer.from(chunk).toString().trimEnd().split('\n')) {
        const row = JSON.parse(line) as FakeRow
        index.set(row['sys_id'] ?? '', row)
        if (++read < stopsAt) continue
        isOver = false
        break reading
      }
    }
    const { cursor } = source
    if (cursor === undefined) throw new Error('the source is no table')
    const settled = JSON.parse(JSON.stringify(cursor.placeAt(read + 1))) as Place
    place = isOver ? cursor.after(settled) : settled
    // What changed last may have been seen by the run before; what the first quiet one saw does not come again.
    if (isQuiet && isOver) quiet++
    if (changes <= 0) instance.now += 120_000
    if (quiet === 2) expect(read).toBe(0)
  }
  for (const id of gone()) index.delete(id)
  expect(Object.fromEntries(index)).toEqual(Object.fromEntries(instance.rows))
}
test.each(seeds.slice(0, 15))(
  'an index has every row in its last version, and what is settled comes once (seed %i)',
  check,
)
test.each(seeds.slice(15))(
  'an index has every row in its last version, and what is settled comes once (seed %i)',
  { tags: 'long' },
  check,
)

test('a reading that goes on reads rows that came since then in the second where it stopped', async () => {
  const instance = new FakeInstance()
  instance.insert(idOf(1))
  const read = async (place: Place | undefined, most = Infinity) => {
    const source = tableSource(instance, { id: 0, table: 'incident', pageSize: 1 })
    const ids: string[] = []
    let isOver = true
    for await (const chunk of source.open(new AbortController().signal, 0, place)) {
      ids.push((JSON.parse(Buffer.from(chunk).toString()) as FakeRow)['sys_id'] ?? '')
      isOver = ids.length < most
      if (!isOver) break
    }
    const settled = JSON.parse(JSON.stringify(source.cursor?.placeAt(ids.length + 1))) as Place
    return { ids, place: isOver ? source.cursor?.after(settled) : settled }
  }
  const { place } = await read(undefined)
  instance.now += 3_600_000
  for (const n of [5, 7]) instance.insert(idOf(n))
  const stopped = await read(place, 1)
  expect(stopped.ids).toEqual([idOf(5)])
  instance.insert(idOf(3))
  expect((await read(stopped.place)).ids.toSorted()).toEqual([idOf(3), idOf(7)].toSorted())
})
