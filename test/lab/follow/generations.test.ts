// @module-tag long
/** Files that had a followed name, and were never seen under it: while Sluice did not run, or between two looks. */
import { appendFile, readFile, rename, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { beforeEach, expect, test } from 'vitest'
import { path, shareLab } from '../../support/lab/shared-lab.js'
import { follow, type Followed, freshLogs, linesOf, log, numbers, upTo } from './followed.js'

shareLab()

beforeEach(freshLogs)

const start = (): Followed => follow(log(), { stateDir: path('state') })

async function firstLoad(lines: number): Promise<void> {
  await writeFile(log(), linesOf(0, lines))
  const first = start()
  await first.stored(lines)
  await first.stop()
}

/** Rotates as logrotate does, with at most two earlier files. */
async function rotate(more: { readonly compress?: boolean } = {}): Promise<void> {
  const ending = more.compress === true ? '.gz' : ''
  await rename(`${log()}.1${ending}`, `${log()}.2${ending}`).catch(() => undefined)
  await rename(log(), `${log()}.1`)
  if (more.compress !== true) return
  await writeFile(`${log()}.1.gz`, gzipSync(await readFile(`${log()}.1`)))
  await rm(`${log()}.1`)
}

async function ends(following: Followed, lines: number, expected: object): Promise<void> {
  await following.stored(lines)
  const receipt = await following.stop()
  expect(numbers()).toEqual(upTo(lines))
  expect(receipt).toMatchObject({ status: 'finished', rejected: 0, ...expected })
}

test.each([false, true])('two rotations while Sluice did not run, compressed: %s', async compress => {
  await firstLoad(100)
  await appendFile(log(), linesOf(100, 200))
  await rotate({ compress })
  await writeFile(log(), linesOf(200, 300))
  await rotate({ compress })
  await writeFile(log(), linesOf(300, 400))
  await ends(start(), 400, { exit: 0, duplicate: 0 })
})

test.each([false, true])('a file that had the name between two looks, compressed: %s', async compress => {
  await writeFile(log(), linesOf(0, 10))
  const following = start()
  await following.stored(10)
  for (let round = 1; round < 6; round += 1) {
    await appendFile(log(), linesOf(round * 20 - 10, round * 20))
    await rotate({ compress })
    await writeFile(log(), linesOf(round * 20, round * 20 + 10))
    await following.stored(round * 20 + 10)
  }
  await ends(following, 110, { exit: 0, duplicate: 0 })
})

test('a compressed file that the glob matches, too, is read once', async () => {
  await writeFile(log(), linesOf(0, 10))
  const following = follow(path('logs/app.ndjson*'), { stateDir: path('state') })
  await following.stored(10)
  await appendFile(log(), linesOf(10, 20))
  await rotate({ compress: true })
  await writeFile(log(), linesOf(20, 30))
  await ends(following, 30, { exit: 0, duplicate: 0 })
})

test('lines that were added before a copy, which was then emptied', async () => {
  await firstLoad(20)
  await appendFile(log(), linesOf(20, 40))
  await writeFile(`${log()}.1`, await readFile(log()))
  await truncate(log())
  await appendFile(log(), linesOf(40, 50))
  await ends(start(), 50, { exit: 0, duplicate: 0 })
})

test('a file that is gone is named, and ends with exit code 1', async () => {
  await firstLoad(20)
  await appendFile(log(), linesOf(20, 40))
  // The inode of a file that was deleted may be used again at once.
  await writeFile(`${log()}.new`, linesOf(40, 50))
  await rename(`${log()}.new`, log())
  const following = start()
  await following.stored(30)
  await following.heard('is gone. Sluice had read')
  expect(following.gaps).toBe(1)
  const receipt = await following.stop()
  expect(receipt).toMatchObject({ exit: 1, status: 'finished', gaps: [{ name: log() }] })
  expect(receipt.notes).toEqual([expect.stringContaining('Lines that were written to it later are not loaded')])
})

test('a compressed file that is cut off is named, and what it holds is loaded', async () => {
  await firstLoad(10)
  await appendFile(log(), linesOf(10, 2000))
  await rotate({ compress: true })
  const packed = await readFile(`${log()}.1.gz`)
  await writeFile(`${log()}.1.gz`, packed.subarray(0, packed.length - 20))
  await writeFile(log(), linesOf(2000, 2010))
  const following = start()
  await following.heard('is truncated')
  const receipt = await following.stop()
  expect(receipt).toMatchObject({ exit: 1, status: 'finished', gaps: [{ name: `${log()}.1.gz` }], duplicate: 0 })
  expect(numbers()).toEqual([...new Set(numbers())])
})

test('an older file that Sluice never followed is not read', async () => {
  await writeFile(`${log()}.1`, linesOf(1000, 1010))
  await utimes(`${log()}.1`, 1000, 1000)
  await firstLoad(10)
  await appendFile(log(), linesOf(10, 20))
  await rotate()
  await writeFile(log(), linesOf(20, 30))
  await ends(start(), 30, { exit: 0, duplicate: 0 })
})
