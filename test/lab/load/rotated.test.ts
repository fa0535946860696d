/** A load that is repeated, of a file that is rotated between: files that came and went unseen are named. */
import { appendFile, copyFile, mkdir, readFile, rename, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { beforeEach, expect, test } from 'vitest'
import { ingest, type IngestEvent, type IngestOptions, type Receipt } from '../../../src/index.js'
import { lines } from '../../support/lab/run-world.js'
import { index, lab, path, shareLab, smallBatches } from '../../support/lab/shared-lab.js'

shareLab()

const log = () => path('logs/app.log')
let said: string[] = []
let gaps: number | undefined

beforeEach(async () => {
  await mkdir(path('logs'))
  await writeFile(log(), lines(10))
})

async function night(source: IngestOptions['source'] = log()): Promise<Receipt> {
  said = []
  gaps = undefined
  const onEvent = (event: IngestEvent) => {
    if (event.type !== 'warning') return
    said.push(event.message)
    gaps = event.missing?.gaps ?? gaps
  }
  return await ingest({ ...smallBatches(), source, onEvent })
}

async function rotate(): Promise<void> {
  await rename(`${log()}.1`, `${log()}.2`).catch(() => undefined)
  await rename(log(), `${log()}.1`)
}

/** Loads one night, and says nothing the next one. */
async function saysNothing(): Promise<void> {
  expect(await night()).not.toHaveProperty('gaps')
  expect(said).toEqual([])
}

test('a file that came and went between two nights is named, and the glob loads it', async () => {
  await night()
  await rotate()
  await writeFile(log(), lines(10, 100))
  await rotate()
  await writeFile(log(), lines(10, 200))
  const receipt = await night()
  expect(receipt).toMatchObject({ exit: 0, created: 10, gaps: [{ name: log() }] })
  expect(said).toEqual([
    expect.stringMatching(/app\.log was replaced after run \S+ loaded it\. \S+app\.log\.1 has lines/),
  ])
  expect(gaps).toBe(1)
  const [, glob = ''] = /`sluice ingest '([^']+)'`/.exec(said[0] ?? '') ?? []
  expect(glob).toBe(`${log()}*`)
  expect(await night(glob)).toMatchObject({ created: 10, duplicate: 0 })
  expect(lab.control.count(index)).toBe(30)
  await saysNothing()
})

test('the gap is named once, and not again the next night', async () => {
  await night()
  await rotate()
  await writeFile(log(), lines(10, 100))
  await rotate()
  await writeFile(log(), lines(10, 200))
  await night()
  await saysNothing()
})

test('lines that were added before the file was renamed are named', async () => {
  await night()
  await appendFile(log(), lines(1, 50))
  await rotate()
  await writeFile(log(), lines(10, 100))
  expect(await night()).toMatchObject({ gaps: [{ name: log() }] })
  expect(said.join()).toContain(`${log()}.1 has lines`)
})

test('a compressed file that came and went is named', async () => {
  await night()
  await rotate()
  // As if the night was an hour later.
  const later = Date.now() / 1000 + 3600
  await writeFile(`${log()}.1.gz`, gzipSync(lines(10, 100)))
  await utimes(`${log()}.1.gz`, later, later)
  await writeFile(log(), lines(10, 200))
  await night()
  expect(said.join()).toContain(`${log()}.1.gz has lines`)
})

test('lines that were added before a file was copied and emptied are named', async () => {
  await night()
  await appendFile(log(), lines(1, 50))
  await copyFile(log(), `${log()}.1`)
  await truncate(log())
  await appendFile(log(), lines(10, 100))
  await night()
  expect(said.join()).toContain(`${log()}.1 has lines`)
})

test.each([
  ['renamed', async () => await rotate()],
  [
    'copied and emptied',
    async () => {
      await copyFile(log(), `${log()}.1`)
      await rm(log())
    },
  ],
  ['deleted', async () => await rm(log())],
])('a file that was loaded whole, and is %s, is not named', async (_, change) => {
  await night()
  await change()
  await writeFile(log(), lines(10, 100))
  await saysNothing()
})

test('a file that another load has read, and a dated copy of the new one, are not named', async () => {
  await night()
  await rotate()
  await writeFile(log(), lines(10, 100))
  await rotate()
  await night(`${log()}.1`)
  await writeFile(log(), lines(10, 200))
  await writeFile(path('logs/app.log-20261128'), await readFile(log()))
  await saysNothing()
})
