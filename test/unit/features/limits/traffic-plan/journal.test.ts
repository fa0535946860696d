import { appendFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TrafficJournal } from '../../../../../src/features/limits/traffic-plan/journal.js'
import { DAY_MS } from '../../../../../src/features/limits/traffic-plan/period.js'

const november = { from: Date.UTC(2026, 10, 1), until: Date.UTC(2026, 11, 1) }
const december = { from: november.until, until: Date.UTC(2027, 0, 1) }

let folder: string
let now: number
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'journal-'))
  now = Date.UTC(2026, 10, 12, 15)
})
afterEach(async () => await rm(folder, { recursive: true }))

/** A process that counts. */
function counting(carried = 0, worthWriting = 1000) {
  const one = { carried }
  const journal = new TrafficJournal({ folder, carried: () => one.carried, worthWriting, now: () => now })
  return Object.assign(one, { journal })
}

const file = () => join(folder, '2026-11.ndjson')

test('processes see what the others have written, and count nothing twice', () => {
  const [a, b] = [counting(), counting(500)]
  a.carried += 3000
  b.carried += 2000
  for (const _ of [1, 2, 3]) for (const { journal } of [a, b]) journal.sync()
  a.journal.sync()
  expect([a.journal.used(november), b.journal.used(november)]).toEqual([5000, 5000])
  expect(counting(9999).journal.used(november)).toBe(5000)
  expect(statSync(file()).mode & 0o777).toBe(0o600)
})

test('little traffic is written once a minute and at the end, and is known to its process before', async () => {
  const one = counting()
  one.carried = 999
  one.journal.sync()
  expect(one.journal.used(november)).toBe(999)
  expect(counting().journal.used(november)).toBe(0)
  now += 60_000
  one.journal.sync()
  expect(counting().journal.used(november)).toBe(999)
  one.carried += 1
  one.journal.sync(true)
  one.journal.sync(true)
  expect((await readFile(file(), 'utf8')).match(/\{.*\}/g)).toHaveLength(2)
  expect(counting().journal.used(november)).toBe(1000)
})

test('a line that a killed process left half-written is no line, and the next one is whole', () => {
  const one = counting()
  appendFileSync(file(), '\n{"at":1794')
  one.carried = 4000
  one.journal.sync()
  expect([one.journal.used(november), counting().journal.used(november)]).toEqual([4000, 4000])
})

test('other files, and lines of another kind, are left alone', () => {
  writeFileSync(join(folder, 'notes.txt'), '{"at":1794000000000,"bytes":1}\n')
  writeFileSync(file(), ['{"at":"x","bytes":1}', '{"at":1794000000000,"bytes":-5}', '[]', 'x', ''].join('\n'))
  const one = counting()
  expect([one.journal.used(november), one.journal.since]).toEqual([0, undefined])
})

test('a month ends for a process that runs on', () => {
  const one = counting()
  one.carried = 4000
  one.journal.sync()
  now = Date.UTC(2026, 11, 1, 0, 0, 1)
  one.carried += 1500
  one.journal.sync()
  const seen = counting().journal
  expect([one.journal.used(november), one.journal.used(december)]).toEqual([4000, 1500])
  expect([seen.used(november), seen.used(december)]).toEqual([4000, 1500])
  expect(seen.since).toBe(Date.UTC(2026, 10, 12))
  const month15 = { from: Date.UTC(2026, 10, 12), until: Date.UTC(2026, 10, 12) + 30 * DAY_MS }
  expect(seen.used(month15)).toBe(5500)
})

test('a file that somebody empties counts from then on', () => {
  const one = counting()
  one.carried = 4000
  one.journal.sync()
  truncateSync(file())
  one.journal.sync()
  one.carried += 1000
  one.journal.sync()
  one.journal.sync()
  expect(one.journal.used(november)).toBe(1000)
})

test('bytes that cannot be written stay for the next line', async () => {
  const one = counting()
  await rm(folder, { recursive: true })
  one.carried = 4000
  expect(() => one.journal.sync()).toThrow(/ENOENT/)
  expect(one.journal.used(november)).toBe(4000)
  writeFileSync((folder = await mkdtemp(join(tmpdir(), 'journal-'))) + '/x', '')
})
