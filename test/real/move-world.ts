/** An old cluster with an index to move, and a new one behind the proxy and the IP filter. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type DeepVerification, ingest, isSluiceError, type Receipt } from '../../src/index.js'
import type { RealWorld } from '../contracts/real-world.js'
import { type Ended, startSluice } from '../support/command/sluice.js'
import { bulkBody, lists, type MovedDocument, movedDocument, targetMapping } from './move-documents.js'
import { environmentOf } from './real-load.js'
import type { OldNode } from './servers/old-node.js'

export const SHARDS = 4

/** Everything that a move needs. */
export interface Moving {
  readonly world: RealWorld
  readonly old: OldNode
  readonly folder: string
  readonly documents: number
  /** The index to move. */
  readonly from: string
}

/** Fills the old index. It indexes no field, so it takes every document. */
export async function fillOld({ old, documents, from }: Pick<Moving, 'old' | 'documents' | 'from'>): Promise<void> {
  const settings = { number_of_shards: SHARDS, number_of_replicas: 0, refresh_interval: '-1' }
  await asked(old.ask, 'PUT', `/${from}`, { settings, mappings: { dynamic: false } })
  const waiting = [...lists(documents)]
  const work = async () => {
    for (let list = waiting.shift(); list !== undefined; list = waiting.shift())
      await store(old, from, list.map(movedDocument))
  }
  await Promise.all(Array.from({ length: 4 }, work))
  await asked(old.ask, 'PUT', `/${from}/_settings`, { refresh_interval: '1s' })
  await asked(old.ask, 'POST', `/${from}/_refresh`)
}

/** Stores the documents of files that others made, as far as they load without options. Returns how many. */
export async function fillWithFiles(
  { old, folder }: Pick<Moving, 'old' | 'folder'>,
  index: string,
  paths: readonly string[],
): Promise<number> {
  await asked(old.ask, 'PUT', `/${index}`, { settings: { number_of_shards: 2, number_of_replicas: 0 }, mappings: { dynamic: false } }) // prettier-ignore
  let stored = 0
  for (const source of paths) {
    const target = { url: old.url, apiKey: old.apiKey }
    const loading = ingest({ source, target, index, stateDir: join(folder, 'files'), deadLetters: false, maxRejected: '100%' }) // prettier-ignore
    const { created } = await loading.catch((error: unknown) => ({ created: 0, ...receiptIn(error) }))
    stored += created
  }
  return stored
}

function receiptIn(error: unknown): Partial<Pick<Receipt, 'created'>> {
  if (!isSluiceError(error)) throw error
  return (error as { receipt?: Receipt }).receipt ?? {}
}

export async function store(old: OldNode, index: string, documents: readonly MovedDocument[]): Promise<void> {
  const answer = await asked(old.ask, 'POST', `/${index}/_bulk`, bulkBody(documents))
  expect(answer.slice(0, 200), /"error":\{.{0,300}/.exec(answer)?.[0]).toContain('"errors":false')
}

/** Makes an index of the target, with other shards. */
export async function makeTarget({ world }: Pick<Moving, 'world'>, index: string): Promise<void> {
  const settings = { number_of_shards: 3, number_of_replicas: 0 }
  await asked(world.ask, 'PUT', `/${index}`, { settings, mappings: targetMapping })
}

export async function asked(ask: OldNode['ask'], method: string, path: string, body?: unknown): Promise<string> {
  const { status, text } = await ask(method, path, body)
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 500)}`)
  return text
}

/** A command on both clusters, and the most memory that it had. */
export interface Command {
  readonly running: ReturnType<typeof startSluice>
  readonly peakBytes: () => number
  readonly seconds: () => number
}

export function start({ world, old, folder }: Moving, args: readonly string[]): Command {
  const env = {
    ...environmentOf(world),
    IP_CHECK_URL: world.ipCheckUrl,
    SLUICE_FROM_API_KEY: old.apiKey,
    SLUICE_STATE_DIR: join(folder, 'state'),
  }
  const began = performance.now()
  const running = startSluice(args, { cwd: folder, env })
  let [peak, ended] = [0, 0]
  const watch = setInterval(() => (peak = Math.max(peak, highWater(running.child.pid))), 20)
  const stop = () => {
    clearInterval(watch)
    ended = performance.now()
  }
  running.ended.then(stop, stop)
  return { running, peakBytes: () => peak, seconds: () => (ended - began) / 1000 }
}

/** Arguments of a load of the old index. */
export function moveArgs({ old, from }: Moving, index: string, ...more: readonly string[]): string[] {
  const letters = ['--dead-letters', `${index}.dead.ndjson`]
  return ['ingest', `elasticsearch:${from}`, '--from', old.url, '--index', index, ...letters, '--json', ...more]
}

export function receiptOf({ code, stdout, stderr }: Ended): Receipt {
  expect(stdout, `exit code ${code}\n${stderr}`).toMatch(/^\{/)
  return JSON.parse(stdout) as Receipt
}

/** Peak resident memory of a process, as the kernel keeps it. 0 if it is gone. */
function highWater(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

/** Compares both indices by Sluice. Returns its account and its exit code. */
export async function compareDeep(moving: Moving, run: string): Promise<{ seen: DeepVerification; command: Command }> {
  const command = start(moving, ['verify', run, '--deep', '--from', moving.old.url, '--json'])
  const { code, stdout, stderr } = await command.running.ended
  expect(stdout, `exit code ${code}\n${stderr}`).toMatch(/^\{/)
  const seen = JSON.parse(stdout) as DeepVerification
  expect(code).toBe(seen.ok ? 0 : 1)
  return { seen, command }
}

interface Summed {
  readonly documents: number
  readonly sum: string
}

/** Compares both indices without Sluice: how many documents each has, and a checksum of all. `skipped`: ids that do not count. */
export function compareByScroll(
  { world, old, from }: Moving,
  index: string,
  skipped: readonly string[],
): [Summed, Summed] {
  const { httpUrl, username, password } = world.cluster
  const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  const indices = [
    { url: old.url, key: `ApiKey ${old.apiKey}`, index: from },
    { url: httpUrl, key: basic, index },
  ]
  const input = JSON.stringify({ skipped, indices })
  const { status, stdout, stderr } = spawnSync('python3', [join(import.meta.dirname, 'move-check.py')], {
    input,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`move-check.py: ${stderr}`)
  return JSON.parse(stdout) as [Summed, Summed]
}

/** Ids in dead letters, in their order. */
export function rejectedIds({ folder }: Moving, index: string): string[] {
  const lines = readFileSync(join(folder, `${index}.dead.ndjson`), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.filter(line => line !== '').map(line => (JSON.parse(line) as { id: string }).id)
}
