// @module-tag long
/** Disks that are full, and folders that go away, under a run: it stops and says why, and the next one goes on. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/pipeline/ledger/receipt.js'
import { type Folder, folder, startSluice } from '../../support/command/sluice.js'

const index = 'disk-faults'
const DOCUMENTS = 5000

let lab: Lab
let work: Folder
const mounted: string[] = []
beforeEach(async () => {
  lab = await startLab()
  work = await folder()
})
afterEach(async () => {
  for (const path of mounted.splice(0)) execFileSync('umount', [path])
  await lab.close()
  await work[Symbol.asyncDispose]()
})

/** A disk of its own, of that size. */
function smallDisk(name: string, size: string): string {
  const path = join(work.path, name)
  mkdirSync(path)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', path])
  mounted.push(path)
  return path
}

const whyNoDisk = (() => {
  const tried = spawnSync('unshare', ['-m', 'true'])
  return process.getuid?.() === 0 && tried.status === 0 ? undefined : 'only root may mount a disk'
})()
if (whyNoDisk !== undefined) console.warn(`skipped: tests of full disks: ${whyNoDisk}`)

function load(...more: string[]) {
  return loadFiles('a.ndjson', ...more)
}

function loadFiles(name: string, ...more: string[]) {
  const fixed = ['--index', index, '--batch-docs', '50', '--concurrency', '2', '--preflight-connections', '1', '--json']
  return startSluice(['ingest', name, ...fixed, ...more], { cwd: work.path, env: lab.env })
}

async function end({
  ended,
}: ReturnType<typeof load>): Promise<{ code: number | null; receipt: Receipt; stderr: string }> {
  const { code, stdout, stderr } = await ended
  expect(stdout, stderr).toMatch(/^\{/)
  return { code, receipt: JSON.parse(stdout) as Receipt, stderr }
}

async function documentsStored(count: number): Promise<void> {
  await eventually(() => expect(lab.control.count(index)).toBeGreaterThan(count))
}

const write = (lineOf: (n: number) => string) =>
  writeFileSync(join(work.path, 'a.ndjson'), Array.from({ length: DOCUMENTS }, (_, n) => `${lineOf(n)}\n`).join(''))
const document = (n: number) => `{"n":${n}}`
const balanced = ({ read, created, duplicate, rejected, skipped, unsent, unknown }: Receipt) =>
  expect(created + duplicate + rejected + skipped + unsent + unknown).toBe(read)

test.skipIf(whyNoDisk !== undefined)(
  'dead letters on a full disk stop the run, which goes on when there is room',
  async () => {
    const disk = smallDisk('letters', '64k')
    const isRefused = (n: number) => n % 10 === 7
    write(n => (isRefused(n) ? `no JSON ${n} ${'x'.repeat(600)}` : document(n)))
    const command = ['--dead-letters', join(disk, 'dead.ndjson'), '--state-dir', join(work.path, 'state')]
    const stopped = await end(load(...command))
    expect(stopped.code).toBe(3)
    expect(stopped.receipt.failure?.code).toBe('DEAD_LETTERS_UNWRITABLE')
    expect(stopped.stderr).toMatch(/disk is full|ENOSPC/)
    balanced(stopped.receipt)

    execFileSync('mount', ['-o', 'remount,size=4m', disk])
    const { code, receipt } = await end(load(...command))
    expect(code).toBe(1)
    balanced(receipt)
    expect(receipt).toMatchObject({ read: DOCUMENTS, rejected: DOCUMENTS / 10, unsent: 0, unknown: 0 })
    expect(lab.control.count(index)).toBe(DOCUMENTS - DOCUMENTS / 10)
    const lines = readFileSync(join(disk, 'dead.ndjson'), 'utf8')
      .trimEnd()
      .split('\n')
      .map(letter => (JSON.parse(letter) as { origin: { line: number } }).origin.line)
    expect(lines).toEqual(Array.from({ length: DOCUMENTS }, (_, n) => n).flatMap(n => (isRefused(n) ? [n + 1] : [])))
  },
)

test.skipIf(whyNoDisk !== undefined)(
  'a state folder on a full disk stops the run, which goes on when there is room',
  async () => {
    const disk = smallDisk('state', '1m')
    // Many inputs, since a few checkpoints fit into what the file system has given the journal already.
    const files = 500
    const documents = Array.from({ length: DOCUMENTS / files }, (_, n) => `${document(n)}\n`).join('')
    for (let n = 0; n < files; n++) writeFileSync(join(work.path, `part-${n}.ndjson`), documents)
    lab.control.plant({ latencyMs: 20 })
    const running = loadFiles('part-*.ndjson', '--state-dir', disk)
    await documentsStored(500)
    const { bavail, bsize } = statfsSync(disk)
    writeFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize))
    const stopped = await end(running)
    expect(stopped.code).toBe(3)
    expect(stopped.receipt.failure?.code).toBe('STATE_UNWRITABLE')
    expect(stopped.stderr).toContain('the disk is full')
    balanced(stopped.receipt)

    rmSync(join(disk, 'filler'))
    const { code, receipt } = await end(loadFiles('part-*.ndjson', '--state-dir', disk))
    expect(code).toBe(0)
    balanced(receipt)
    expect(receipt).toMatchObject({ run: stopped.receipt.run, read: DOCUMENTS, unsent: 0, unknown: 0 })
    expect(lab.control.count(index), 'nothing is doubled').toBe(DOCUMENTS)
  },
)

test('a state folder that is gone in the middle is written again at the end of the run', async () => {
  write(document)
  lab.control.plant({ latencyMs: 20 })
  const state = join(work.path, 'state')
  const running = load('--state-dir', state)
  await documentsStored(500)
  rmSync(state, { recursive: true })
  const stopped = await end(running)
  expect(stopped.code).toBe(0)
  balanced(stopped.receipt)
  const { code, receipt } = await end(load('--state-dir', state))
  expect(code).toBe(0)
  expect(receipt).toMatchObject({ read: 0, created: 0 })
  expect(lab.control.count(index), 'nothing is doubled').toBe(DOCUMENTS)
})

test('a state folder that takes no more files stops the run, which goes on when it does again', async () => {
  write(document)
  lab.control.plant({ latencyMs: 20 })
  const state = join(work.path, 'state')
  const running = load('--state-dir', state)
  await documentsStored(500)
  // What a read-only folder is to others, to root as well: a file stands where the folder was.
  renameSync(join(state, 'runs'), join(work.path, 'aside'))
  writeFileSync(join(state, 'runs'), '')
  const stopped = await end(running)
  expect(stopped.code).toBe(3)
  expect(stopped.receipt.failure?.code).toBe('STATE_UNWRITABLE')
  balanced(stopped.receipt)

  rmSync(join(state, 'runs'))
  renameSync(join(work.path, 'aside'), join(state, 'runs'))
  expect(readdirSync(join(state, 'runs')).filter(name => name.endsWith('.jsonl'))).toHaveLength(1)
  const { code, receipt } = await end(load('--state-dir', state))
  expect(code).toBe(0)
  expect(receipt).toMatchObject({ unsent: 0, unknown: 0 })
  expect(lab.control.count(index), 'nothing is doubled').toBe(DOCUMENTS)
})
