import { lastRun, rewriteRun, type StoredRun } from '../state/stored-runs.js'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type IngestOptions, type Receipt, connect, ingest, isSluiceError } from '../../../src/index.js'
import type { Lab } from '../../../src/lab/index.js'
import { newIndex } from '../../contracts/options.js'

/** A folder with inputs and state, and an index of its own. */
export interface RunWorld extends AsyncDisposable {
  readonly index: string
  readonly stateDir: string
  path(name: string): string
  /** What every call needs: the target, the proxy. */
  way(): Promise<Pick<IngestOptions, 'target' | 'proxy' | 'preflightConnections'>>
  load(name: string, more?: Partial<IngestOptions>): Promise<Receipt>
  checkpoint(): Promise<StoredRun>
  /** The checkpoint as a process that was killed would have left it: `documents` of the first input are settled. */
  killedAt(documents: number): Promise<void>
  /** A bulk request past Sluice: action lines, and documents. */
  bulk(lines: readonly object[], index?: string): Promise<void>
}

export async function openRunWorld(lab: Lab, index = newIndex('verify')): Promise<RunWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'verify-'))
  const path = (name: string) => join(folder, name)
  const stateDir = path('state')
  const way = async () => {
    const { url, apiKey, caFile } = lab.line.cluster
    return {
      target: { url, apiKey, ca: await readFile(caFile) },
      proxy: lab.line.proxy.http,
      preflightConnections: 1,
    }
  }
  const checkpoint = async () => (await lastRun(stateDir)).checkpoint
  return {
    index,
    stateDir,
    path,
    way,
    checkpoint,
    load: async (name, more = {}) =>
      await ingest({
        ...(await way()),
        source: path(name),
        index,
        stateDir,
        deadLetters: path('dead.ndjson'),
        batchDocs: 100,
        ...more,
      }),
    killedAt: async documents => {
      const last = await checkpoint()
      const [input, ...others] = last.inputs
      if (input === undefined) throw new Error('no input')
      const bytes = await readFile(input.name, 'utf8')
      const offset = Buffer.byteLength(bytes.split('\n').slice(0, documents).join('\n')) + 1
      const mark = { ...input.mark, document: documents + 1, line: documents + 1, offset, tail: 0 }
      const begun = { ...input, status: 'begun' as const, mark, read: documents }
      const counts = { ...last.counts, read: documents, created: documents, duplicate: 0, rejected: 0, skipped: 0 }
      const { path: file } = await lastRun(stateDir)
      const left = [begun, ...others].filter(({ status }) => status !== 'finished').length
      await rewriteRun(file, { ...last, status: 'running', isDoubtful: true, inputs: [begun, ...others], left, counts })
    },
    bulk: async (lines, to = index) => {
      await using direct = await connect(await way())
      const body = lines.map(line => `${JSON.stringify(line)}\n`).join('')
      const options = { headers: { 'content-type': 'application/x-ndjson', accept: 'application/json' } }
      const path = `/${to}/_bulk`
      const answer = await direct.client.transport.request<{ items: Record<string, { status: number }>[] }>(
        { method: 'POST', path, bulkBody: body },
        options,
      )
      const statuses = answer.items.flatMap(item => Object.values(item).map(({ status }) => status))
      if (statuses.some(status => status >= 300)) throw new Error(`refused: ${statuses.join(', ')}`)
    },
    [Symbol.asyncDispose]: async () => {
      lab.control.heal()
      await rm(folder, { recursive: true })
    },
  }
}

export function lines(count: number, from = 1): string {
  return Array.from({ length: count }, (_, at) => `{"n":${from + at}}\n`).join('')
}

/** Code and message of a failure. */
export async function codeOf(run: Promise<unknown>): Promise<string> {
  try {
    await run
  } catch (error) {
    if (isSluiceError(error)) return `${error.code}: ${error.message}`
    throw error
  }
  return 'no failure'
}
