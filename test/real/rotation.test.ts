/** Logs that the genuine logrotate rotates, loaded every night and followed: each line is stored once. */
import { execFileSync } from 'node:child_process'
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { ingest, type Receipt } from '../../src/index.js'
import { until } from '../support/eventually.js'
import { index, lab, otherIndex, path, shareLab, smallBatches } from '../support/lab/shared-lab.js'
import { findParts } from './servers/parts.js'

shareLab()

const { logrotate } = findParts()
if (logrotate === undefined) console.warn('skipped: rotation by logrotate: it is not installed')

const NIGHTS = 3
const LINES = 60

const configurations = [
  ['compress', 'rotate 7\n compress'],
  ['compress, delaycompress', 'rotate 7\n compress\n delaycompress'],
  ['no compression', 'rotate 7'],
  ['dateext, compress', 'rotate 7\n compress\n dateext\n dateformat -%Y%m%d-%s'],
  ['copytruncate', 'rotate 7\n copytruncate'],
  ['copytruncate, compress', 'rotate 7\n copytruncate\n compress'],
  ['olddir, compress', 'rotate 7\n compress\n olddir archive'],
  ['xz', 'rotate 7\n compress\n compresscmd /usr/bin/xz\n compressext .xz'],
] as const

const log = () => path('logs/app.ndjson')
let next = 0

beforeEach(async () => {
  otherIndex()
  next = 0
  await rm(path('logs'), { recursive: true, force: true })
  await rm(path('state'), { recursive: true, force: true })
  await mkdir(path('logs/archive'), { recursive: true })
  await writeFile(log(), '')
})

async function write(count: number): Promise<void> {
  const lines = Array.from({ length: count }, () => `{"n":${next++},"text":"a line of a log, as long as they are"}\n`)
  await appendFile(log(), lines.join(''))
}

async function rotate(configuration: string): Promise<void> {
  const text = `${path('logs')}/app.ndjson {\n su root root\n create 0644 root root\n ${configuration}\n}\n`
  await writeFile(path('logrotate.conf'), text)
  execFileSync(logrotate ?? '', ['-f', '-s', path('logrotate.state'), path('logrotate.conf')], { cwd: path('.') })
  // A name with the time has one second.
  if (configuration.includes('%s')) await new Promise(resolve => setTimeout(resolve, 1100))
}

function expectEachOnce(receipt: Receipt): void {
  const ids = lab.control.ids(index)
  const found = ids.map(id => (JSON.parse(String(lab.control.source(index, id))) as { n: number }).n)
  expect(found.toSorted((a, b) => a - b)).toEqual(Array.from({ length: next }, (_, n) => n))
  expect(receipt).toMatchObject({ exit: 0, rejected: 0, unsent: 0, unknown: 0 })
}

describe.skipIf(logrotate === undefined)('logs that logrotate rotates', () => {
  test.each(configurations)('nightly loads with %s', async (_, configuration) => {
    for (let night = 0; night < NIGHTS; night += 1) {
      await write(LINES)
      // Every other night, lines are loaded that the log already had before its rotation.
      if (night % 2 === 0) await nightly()
      await write(7)
      await rotate(configuration)
      await write(3)
      expectEachOnce(await nightly())
    }
    expectEachOnce(await nightly())
  })

  test.each(configurations)('an outage of two rotations under --follow with %s', async (_, configuration) => {
    await write(LINES)
    await (await following()).stop()
    for (let day = 0; day < 2; day += 1) {
      await write(LINES)
      await rotate(configuration)
    }
    await write(5)
    expectEachOnce(await (await following()).stop())
  })

  test.each(configurations)('rotations under --follow with %s', async (_, configuration) => {
    await write(LINES)
    const { stop, stored } = await following()
    for (let day = 0; day < NIGHTS; day += 1) {
      await write(LINES)
      await rotate(configuration)
      await write(5)
      await stored()
    }
    expectEachOnce(await stop())
  })
})

async function nightly(): Promise<Receipt> {
  return await ingest({
    source: [`${log()}*`, path('logs/archive/*')],
    ...smallBatches(),
    stateDir: path('state'),
  }).catch(async (error: unknown) => {
    // Without olddir, its glob matches nothing.
    if ((error as { code?: string }).code !== 'INPUT_NOT_FOUND') throw error
    return await ingest({ source: `${log()}*`, ...smallBatches(), stateDir: path('state') })
  })
}

/** Follows the log. Resolves once every line so far is stored. */
async function following() {
  const controller = new AbortController()
  const options = { source: log(), ...smallBatches(), follow: true, pollMs: 50, stateDir: path('state') } as const
  const running = ingest({ ...options, signal: controller.signal })
  const stored = async () => await Promise.race([running, until(() => lab.control.count(index) >= next)])
  await stored()
  const stop = async () => {
    controller.abort('SIGTERM')
    return await running
  }
  return { stop, stored }
}
