/** One load through the gate, repeated until it is done, and what the cluster holds then beside what the input held. */
import { lastRun } from '../../support/state/stored-runs.js'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type IngestEvent, type Receipt, ingest, isSluiceError } from '../../../src/index.js'
import { newIndex } from '../../contracts/options.js'
import type { World } from '../../contracts/world.js'
import { type Authority, type Certificate, createAuthority } from '../../support/servers/proxy-certificates.js'
import { seeded } from '../../support/random/seeded.js'
import type { Case } from './chaos-cases.js'
import { startFront } from './chaos-front.js'
import { startGate } from './chaos-gate.js'
import { type Fault, Program } from './chaos-program.js'

const MOST_ATTEMPTS = 60
const BATCH_DOCS = 50

const authority: Authority = await createAuthority('Chaos CA')
const certificate: Certificate = await authority.issue(['127.0.0.1'])

/** One process, as it were. */
interface Attempt {
  /** Absent where it did not get as far as a document. */
  readonly receipt?: Receipt
  /** The failure that stopped it. */
  readonly code?: string
  /** Documents in the cluster when it was over. */
  readonly stored: number
}

export interface Endured {
  readonly attempts: readonly Attempt[]
  /** What the input becomes. */
  readonly expected: Expected
  /** Ids, without the token, of documents that are not in the cluster under their id, or not byte for byte. */
  readonly missing: readonly string[]
  readonly altered: readonly string[]
  /** Documents in the cluster, whatever they are. */
  readonly stored: number
  readonly struck: ReadonlyMap<Fault['kind'], number>
  /** The addresses from which the cluster was reached. */
  readonly sources: ReadonlySet<string>
  /** Of the gate's own. */
  readonly problems: readonly string[]
}

/** The world's IP filter has to let everyone in: the gate plays the filter. */
export async function endure(world: World, played: Case, timeoutMs: number): Promise<Endured> {
  const folder = await mkdtemp(join(tmpdir(), 'chaos-'))
  const index = newIndex('chaos')
  const program = new Program(played.faults, () => performance.now())
  const isPlain = played.way === 'forward'
  await using gate = await startGate({
    cluster: new URL(world.cluster.httpUrl),
    ...(!isPlain && { certificate }),
    program,
    random: seeded(played.seed),
    closing: played.closing,
  })
  await using front = await startFront(played.way === 'socks5' ? world.proxy.socks5 : world.proxy.http, program)
  try {
    const numbers = Array.from({ length: played.documents }, (_, at) => at + 1)
    await writeFile(join(folder, 'input.ndjson'), numbers.map(n => `${lineOf(n)}\n`).join(''))
    const expected = expectedOf(numbers, played.made)
    const attempts: Attempt[] = []
    // Some processes find an outage still going on.
    const pauseMs = Math.max(50, ...played.faults.map(fault => (fault.kind === 'outage' ? fault.forMs / 20 : 0)))
    do {
      const interruptAfter = attempts.length === 0 ? played.interruptAfter : undefined
      const ended = await attempt({
        source: join(folder, 'input.ndjson'),
        target: {
          url: `${isPlain ? 'http' : 'https'}://127.0.0.1:${gate.port}`,
          apiKey: world.cluster.apiKey,
          ca: authority.cert,
        },
        proxy: front.url,
        index,
        stateDir: join(folder, 'state'),
        deadLetters: join(folder, 'dead.ndjson'),
        preflightConnections: 1,
        batchDocs: BATCH_DOCS,
        concurrency: 4,
        timeoutMs,
        maxElapsedMs: played.maxElapsedMs,
        compress: played.gzip ? 'gzip' : 'none',
        ...(played.made === 'edited' && { edits: { set: { from: '{file}:{line}' }, rename: { big: 'large' } } }),
        ...(played.made === 'transformed' && { transform: shape }),
        ...(interruptAfter !== undefined && { interruptAfter }),
      })
      attempts.push({ ...ended, stored: await world.count(index) })
      if (ended.code !== undefined) await new Promise(resolve => setTimeout(resolve, pauseMs))
    } while (attempts.at(-1)?.code !== undefined && attempts.length < MOST_ATTEMPTS)
    const found = await compare(world, index, await tokenIn(join(folder, 'state')), expected.documents)
    const { struck } = program
    const { sources, problems } = gate
    return { attempts, expected, ...found, stored: await world.count(index), struck, sources, problems }
  } finally {
    await rm(folder, { recursive: true, force: true })
    await fetch(new URL(index, world.cluster.httpUrl), { method: 'DELETE', headers: keyOf(world) })
  }
}

interface Expected {
  /** By their ids, without the token. */
  readonly documents: ReadonlyMap<string, string>
  /** Documents, and lines of which none came. */
  readonly read: number
}

function expectedOf(numbers: readonly number[], made: Case['made']): Expected {
  if (made === 'transformed') {
    const all = numbers.map(n => ({ n, texts: shaped(n) }))
    const documents = all.flatMap(({ n, texts }) =>
      texts.map((text, at) => [at === 0 ? `${n}` : `${n}.${at + 1}`, text] as const),
    )
    return { documents: new Map(documents), read: all.reduce((sum, { texts }) => sum + Math.max(1, texts.length), 0) }
  }
  const edited = (n: number) => `${lineOf(n).replace('"big":', '"large":').slice(0, -1)},"from":"input.ndjson:${n}"}`
  const text = made === 'edited' ? edited : lineOf
  return { documents: new Map(numbers.map(n => [String(n), text(n)])), read: numbers.length }
}

/** Leaves some documents out, and makes up to 120 of others: more than a body takes. */
function shape({ n, big, ratio }: Record<string, unknown>): object | null {
  const line = Number(n)
  if (line % 5 === 0) return null
  if (line % 97 === 0) return Array.from({ length: 120 }, (_, part) => ({ n, big, part, ratio }))
  return line % 7 === 0 ? [{ n, big, ratio }, { n }] : { n, big, ratio }
}

function shaped(n: number): string[] {
  const big = 1_000_000_000_000_000_000n + BigInt(n)
  if (n % 5 === 0) return []
  if (n % 97 === 0)
    return Array.from({ length: 120 }, (_, part) => `{"n":${n},"big":${big},"part":${part},"ratio":1.0}`)
  const usual = `{"n":${n},"big":${big},"ratio":1.0}`
  return n % 7 === 0 ? [usual, `{"n":${n}}`] : [usual]
}

/** With values that a reader and writer of JSON would change. */
function lineOf(n: number): string {
  const text = `"Größe ${n}" \u2028 \u{1F69A} `.replaceAll('"', String.raw`\"`) + 'x'.repeat((n * 37) % 150)
  return `{"n":${n},"big":${1_000_000_000_000_000_000n + BigInt(n)},"ratio":1.0,  "text":"${text}","tab":"\\u0009"}`
}

async function attempt({
  interruptAfter = Infinity,
  ...options
}: Parameters<typeof ingest>[0] & { interruptAfter?: number }): Promise<Omit<Attempt, 'stored'>> {
  const interrupt = new AbortController()
  const onEvent = (event: IngestEvent) => {
    if (event.type !== 'progress') return
    if (event.counts.created + event.counts.duplicate >= interruptAfter) interrupt.abort('chaos')
  }
  try {
    return { receipt: await ingest({ ...options, signal: interrupt.signal, onEvent }) }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { code: error.code, ...(error.receipt !== undefined && { receipt: error.receipt }) }
  }
}

async function tokenIn(state: string): Promise<string> {
  const { checkpoint } = await lastRun(state)
  return checkpoint.inputs[0]?.token ?? ''
}

/** Looks every document up by its id. */
async function compare(world: World, index: string, token: string, expected: ReadonlyMap<string, string>) {
  const missing: string[] = []
  const altered: string[] = []
  const all = [...expected]
  for (let from = 0; from < all.length; from += 1000) {
    const asked = all.slice(from, from + 1000)
    const response = await fetch(new URL(`${index}/_mget`, world.cluster.httpUrl), {
      method: 'POST',
      headers: { ...keyOf(world), 'content-type': 'application/json' },
      body: JSON.stringify({ ids: asked.map(([number]) => `${token}-${number}`) }),
    })
    // Not parsed: numbers would be read as what they are not.
    const documents = (await response.text()).split('{"_index":"').slice(1)
    for (const [at, [n, line]] of asked.entries()) {
      const found = documents[at] ?? ''
      if (!found.includes(`"_id":"${token}-${n}"`) || !found.includes('"found":true')) missing.push(n)
      else if (!found.includes(`"_source":${line}}`)) altered.push(n)
    }
  }
  return { missing, altered }
}

function keyOf(world: World): { authorization: string } {
  return { authorization: `ApiKey ${world.cluster.apiKey}` }
}
