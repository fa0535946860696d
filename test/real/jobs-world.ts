/** One job on a real queue: its inputs, its workers as processes of their own, and what the lab's cluster holds in the end. */
import { mkdirSync, writeFileSync } from 'node:fs'
import type { Receipt } from '../../src/index.js'
import { expect } from 'vitest'
import { eventuallySeen } from '../support/eventually.js'
import { index, lab, path } from '../support/lab/shared-lab.js'
import type { ListedJob } from '../../src/programs/jobs/control/list-jobs.js'
import { openEngine } from '../../src/programs/jobs/queue/open-engine.js'
import { readSigns } from '../../src/programs/jobs/queue/worker-sign.js'
import { sluiceHere } from '../support/command/in-process.js'
import { type Ended, type Running, startSluice } from '../support/command/sluice.js'

/** Writes files of so many documents each, numbered through, from the file `first` on. `more`: a line behind them. */
export function writeFiles(files: number, each: number, bytes = 40, first = 0, more = ''): void {
  mkdirSync(path('in'), { recursive: true })
  for (let file = first; file < files; file += 1) {
    const lines = Array.from({ length: each }, (_, n) => `{"n":${file * each + n},"text":"${'x'.repeat(bytes)}"}\n`)
    writeFileSync(path(`in/${String(file).padStart(3, '0')}.ndjson`), lines.join('') + more)
  }
}

/** Undefined: not set. */
type More = Readonly<Record<string, string | undefined>>

function environment(queue: string, more: More = {}): Readonly<Record<string, string>> {
  const all = { ...lab.env, SLUICE_QUEUE: queue, SLUICE_LEASE: '2s', SLUICE_PREFLIGHT_CONNECTIONS: '1', ...more }
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** Processes of the test that runs. One that fails leaves some behind, perhaps stopped. */
const started = new Set<Running>()

export async function endAll(): Promise<void> {
  for (const { child, ended } of started) {
    child.kill('SIGKILL')
    await ended
  }
  started.clear()
}

/** `env`: more of its environment. */
export function start(queue: string, args: readonly string[], env?: More): Running {
  const running = startSluice(args, { cwd: path('.'), env: environment(queue, env) })
  started.add(running)
  return running
}

export function startIngest(queue: string, ...more: readonly string[]): Running {
  return start(queue, ['ingest', path('in/*.ndjson'), '--index', index, '--json', ...more])
}

export function startWorker(queue: string, ...more: readonly string[]): Running {
  return start(queue, ['worker', ...more])
}

/** Resolves when the queue knows the worker, so that it gets its share of the next job. */
export async function atHand(queue: string, worker: Running): Promise<void> {
  await using engine = await openEngine(queue)
  await eventuallySeen(async () => {
    const pids = (await readSigns(engine, 0)).map(({ pid }) => pid)
    expect(pids).toContain(worker.child.pid)
  })
}

export async function jobs(queue: string, ...args: readonly string[]): Promise<Ended> {
  return await sluiceHere(['jobs', ...args], { cwd: path('.'), env: environment(queue) })
}

/** The jobs of this test's index, as `sluice jobs --json` lists them. */
export async function listed(queue: string): Promise<readonly ListedJob[]> {
  const { stdout, stderr } = await jobs(queue, '--json')
  if (stdout === '') throw new Error(stderr)
  return (JSON.parse(stdout) as { readonly jobs: readonly ListedJob[] }).jobs.filter(job => job.index === index)
}

export function receiptOf({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): Receipt {
  if (stdout === '') throw new Error(`no receipt:\n${stderr}`)
  return JSON.parse(stdout) as Receipt
}

/** How many documents the index holds. */
export async function stored(): Promise<number> {
  return lab.control.count(index)
}
