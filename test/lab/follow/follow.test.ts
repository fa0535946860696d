/** Files that grow, are renamed, truncated and deleted while Sluice follows them. */
import { appendFile, mkdir, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { ingest } from '../../../src/index.js'
import { codeOf } from '../../support/lab/run-world.js'
import { index, lab, path, shareLab, smallBatches } from '../../support/lab/shared-lab.js'
import { listRuns } from '../../../src/cli/commands/run-list.js'
import { follow, linesOf, log, numbers, upTo } from './followed.js'

shareLab()

const logs = () => path('logs/*.ndjson')
beforeEach(async () => await mkdir(path('logs')))

test('lines that are there and lines that are appended are loaded once, as one run', async () => {
  await writeFile(log(), linesOf(0, 30))
  const following = follow(logs())
  await following.stored(30)
  await appendFile(log(), linesOf(30, 35))
  await following.stored(35)
  await writeFile(path('logs/new.ndjson'), linesOf(35, 40))
  await following.stored(40)
  await appendFile(log(), linesOf(40, 60))
  const receipt = await following.stop()
  expect(receipt).toMatchObject({ status: 'finished', exit: 0, read: 60, created: 60, duplicate: 0 })
  expect(receipt.thisProcess.created).toBe(60)
  expect(receipt.inputs).toMatchObject([
    { name: log(), status: 'finished', read: 55 },
    { name: path('logs/new.ndjson'), status: 'finished', read: 5 },
  ])
  expect(following.said).toEqual([`${path('logs/new.ndjson')} is new`])
  expect(numbers()).toEqual(upTo(60))

  const again = await ingest({ source: logs(), ...smallBatches() })
  expect(again.inputs.every(({ alreadyLoaded }) => alreadyLoaded)).toBe(true)
  expect(lab.control.count(index)).toBe(60)
})

test('an unfinished last line waits for its line feed, also until the next process', async () => {
  await writeFile(log(), `${linesOf(0, 3)}{"n"`)
  const following = follow(logs())
  await following.stored(3)
  await appendFile(log(), ':3}\n{"n":')
  await following.stored(4)
  const receipt = await following.stop()
  expect(receipt).toMatchObject({ status: 'finished', exit: 0, read: 4, created: 4, rejected: 0 })
  expect(receipt.notes).toEqual([`${log()} ends within a line: 5 bytes of it wait for the line feed`])

  await appendFile(log(), '4}\n')
  const second = follow(logs())
  await second.stored(5)
  expect(await second.stop()).toMatchObject({ status: 'finished', rejected: 0 })
  expect(numbers()).toEqual(upTo(5))
})

test('a renamed file is read to its end, and then the file that takes its name', async () => {
  await writeFile(log(), linesOf(0, 10))
  const following = follow(logs())
  await following.stored(10)
  await appendFile(log(), linesOf(10, 12))
  await rename(log(), `${log()}.1`)
  await writeFile(log(), linesOf(12, 15))
  await following.heard('was renamed to app.ndjson.1')
  await appendFile(`${log()}.1`, linesOf(15, 17))
  await following.stored(17)
  await rename(`${log()}.1`, `${log()}.2`)
  await rename(log(), `${log()}.1`)
  await writeFile(log(), linesOf(17, 30))
  await appendFile(`${log()}.2`, linesOf(30, 31))
  await appendFile(`${log()}.1`, linesOf(31, 32))
  await following.stored(32)
  const receipt = await following.stop()
  expect(receipt).toMatchObject({ status: 'finished', read: 32, created: 32, duplicate: 0 })
  expect(receipt.inputs).toMatchObject([{ name: log(), read: 32 }])
  expect(numbers()).toEqual(upTo(32))
})

test('a file that begins as the renamed one did is not taken for it', { tags: 'long' }, async () => {
  await writeFile(log(), '{"n":1}\n'.repeat(3))
  const following = follow(logs())
  await following.stored(3)
  await rename(log(), `${log()}.1`)
  await writeFile(log(), '{"n":1}\n'.repeat(5))
  await following.stored(8)
  expect(await following.stop()).toMatchObject({ created: 8 })
})

test('a truncated file is a new input from its start, whether it is shorter or longer than before', async () => {
  await writeFile(log(), linesOf(0, 10))
  const following = follow(logs())
  await following.stored(10)
  await truncate(log())
  await following.heard('was truncated')
  await appendFile(log(), linesOf(10, 12))
  await following.stored(12)
  await writeFile(log(), linesOf(12, 40))
  await following.stored(40)
  expect(await following.stop()).toMatchObject({ status: 'finished', created: 40, duplicate: 0 })
  expect(following.said.filter(one => one.includes('truncated'))).toHaveLength(2)
  expect(numbers()).toEqual(upTo(40))
})

test('the receipt has the time of the whole, and the rate of the time while it loaded', async () => {
  await writeFile(log(), linesOf(0, 5))
  const following = follow(logs())
  await following.stored(5)
  const waitedMs = 1500
  await delay(waitedMs)
  await appendFile(log(), linesOf(5, 9))
  await following.stored(9)
  const { elapsedMs, docsPerSecond, began, ended, follow: times } = await following.stop()
  expect(elapsedMs).toBeGreaterThanOrEqual(waitedMs)
  expect(Date.parse(ended) - Date.parse(began)).toBeGreaterThanOrEqual(waitedMs - 1000)
  expect(times?.loadingMs).toBeLessThan(elapsedMs)
  expect(docsPerSecond).toBe(Math.round((9 * 1000) / Math.max(1, times?.loadingMs ?? 0)))
})

test('a file that is deleted right after it has grown is read to its end', { tags: 'long' }, async () => {
  await writeFile(log(), linesOf(0, 5))
  const following = follow(logs())
  await following.stored(5)
  await appendFile(log(), `${linesOf(5, 9)}{"n":`)
  await rm(log())
  await following.heard('was deleted')
  const receipt = await following.stop()
  expect(receipt).toMatchObject({ status: 'finished', created: 9 })
  expect(following.said).toEqual([
    `${log()} was deleted. Sluice had read 72 bytes of it. Its last 5 bytes had no line feed: Sluice has not loaded them`,
  ])
  expect(numbers()).toEqual(upTo(9))
})

test('files that were renamed while Sluice did not run are read to their end', { tags: 'long' }, async () => {
  await writeFile(log(), linesOf(0, 5))
  const first = follow(logs())
  await first.stored(5)
  await first.stop()
  await appendFile(log(), linesOf(5, 7))
  await rename(log(), `${log()}.1`)
  await writeFile(log(), linesOf(7, 9))
  const second = follow(logs())
  await second.stored(9)
  await appendFile(`${log()}.1`, linesOf(9, 10))
  await second.stored(10)
  expect(await second.stop()).toMatchObject({ status: 'finished', rejected: 0, duplicate: 0 })
  expect(second.said).toContain(`${log()} was renamed to app.ndjson.1 before. Sluice reads it to its end`)
  expect(numbers()).toEqual(upTo(10))
})

test('a name that leads to nothing so far is waited for', { tags: 'long' }, async () => {
  const following = follow([logs(), log()])
  await following.heard(`nothing is at ${log()} so far`)
  await writeFile(log(), linesOf(0, 2))
  await following.stored(2)
  expect(await following.stop()).toMatchObject({ status: 'finished', created: 2, read: 2 })
  const nothing = follow(path('none/*.ndjson'))
  await nothing.begun()
  expect(await nothing.stop()).toMatchObject({ status: 'finished', read: 0, inputs: [] })
})

test('the history has one run, with the rejected lines of all rounds', { tags: 'long' }, async () => {
  await writeFile(log(), 'not json\n')
  const following = follow(logs())
  await appendFile(log(), linesOf(0, 2))
  await following.stored(2)
  await appendFile(log(), `nor this\n${linesOf(2, 3)}`)
  await following.stored(3)
  const receipt = await following.stop()
  expect(receipt).toMatchObject({ status: 'finished', exit: 1, read: 5, created: 3, rejected: 2 })
  expect(receipt.rejections).toMatchObject([{ documents: 2 }])
  const { runs } = await listRuns(path('state'))
  expect(runs).toMatchObject([{ run: receipt.run, status: 'finished', exit: 1, counts: { read: 5, rejected: 2 } }])
})

test('an input that cannot be followed is refused before anything is sent, and later left out', async () => {
  await writeFile(log(), linesOf(0, 2))
  await writeFile(path('logs/array.json'), '[{"n":1}]\n')
  expect(await codeOf(follow([logs(), path('logs/array.json')]).stop())).toContain(
    `OPTION_INVALID: follow: reads only plain NDJSON files, but ${path('logs/array.json')} is not plain NDJSON`,
  )
  expect(lab.control.count(index)).toBe(0)
  const following = follow(path('logs/app*'))
  await following.stored(2)
  await writeFile(`${log()}.gz`, Buffer.from('1f8b0800000000000003', 'hex'))
  await following.heard(`${log()}.gz is compressed. Sluice leaves it out`)
  expect(await following.stop()).toMatchObject({ status: 'finished', created: 2 })
})
