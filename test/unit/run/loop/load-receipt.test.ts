import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rounds } from '../../../support/rounds.js'
import { Batcher } from '../../../../src/pipeline/bulk/batcher.js'
import { SlotPool } from '../../../../src/pipeline/bulk/slots.js'
import { StopSignals } from '../../../../src/run/loop/stop-signals.js'
import { failure, SluiceError } from '../../../../src/base/failure/failure.js'
import type { Batch, Outcome, Refused, RejectionLimit, Source } from '../../../../src/base/flow.js'
import type { IngestEvent } from '../../../../src/options/run-events.js'
import { DeadLetters } from '../../../../src/pipeline/ledger/dead-letters.js'
import { Ledger } from '../../../../src/pipeline/ledger/ledger.js'
import type { Loaded } from '../../../../src/run/loop/hooks.js'
import { load } from '../../../../src/run/loop/load-documents.js'
import { HeldClock } from '../../../support/load/held-clock.js'
import { type Seeded, seeded } from '../../../support/random/seeded.js'

const LONGEST = 60
const filtered = failure('EGRESS_NOT_ALLOWED', { cluster: 'c', refused: 1, probes: 1, observed: 'Forbidden' })

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'load-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Ran {
  readonly loaded: Loaded
  readonly ledger: Ledger
  readonly events: IngestEvent[]
  readonly letters: DeadLetters
}

interface Running {
  readonly sources: readonly Source[]
  readonly send: (batch: Batch) => Promise<Outcome>
  readonly signal?: AbortSignal
  readonly maxRejected?: RejectionLimit
  readonly deadLetters?: string
  readonly batchDocs?: number
}

/** Runs a load whose sender is the given function until it is halted; from then on everything is left unsent. */
async function run({ sources, send, signal, maxRejected, deadLetters, batchDocs = 3 }: Running): Promise<Ran> {
  await using letters = new DeadLetters(deadLetters)
  const ledger = new Ledger(letters, { maxRejected })
  const events: IngestEvent[] = []
  let halted = false
  const alive = new Set<Batch>()
  const slots = new SlotPool(3, 500)
  const loaded = await load({
    inputs: sources.map(source => ({ source, token: `token${source.id}` })),
    format: { format: 'ndjson' },
    batcher: new Batcher({
      operation: 'create',
      ids: { from: 'run' },
      batchBytes: 500,
      batchDocs,
      batchMs: 1000,
      maxDocumentBytes: LONGEST,
      slots,
      clock: new HeldClock(),
      longLine: async (input, origin, operation) => await ledger.longLine(input, origin, operation, LONGEST),
    }),
    send: async batch => {
      if (halted) return outcomeOf(batch, { unsent: batch.docs })
      alive.add(batch)
      // Blank lines take no memory.
      const withMemory = [...alive].filter(({ docs, refused }) => docs + refused.length > 0)
      expect(withMemory.length).toBeLessThanOrEqual(3)
      const outcome = await send(batch)
      expect(alive.delete(batch), 'a batch is settled once').toBe(true)
      return outcome
    },
    room: async () => await Promise.resolve(),
    halt: () => {
      halted = true
    },
    ledger,
    stop: new StopSignals({ signal, clock: new HeldClock() }),
    tell: event => events.push(event),
  })
  expect(alive.size, 'every batch has an outcome').toBe(0)
  expectBalanced(ledger)
  return { loaded, ledger, events, letters }
}

function expectBalanced({ counts, inputs, rejections }: Ledger): void {
  const { read, ...others } = counts
  expect(Object.values(others).reduce((sum, count) => sum + count, 0)).toBe(read)
  expect(inputs.reduce((sum, one) => sum + one.read, 0)).toBe(read)
  expect(rejections.reduce((sum, { documents }) => sum + documents, 0)).toBe(counts.rejected)
  for (const count of Object.values(counts)) expect(count).toBeGreaterThanOrEqual(0)
}

function outcomeOf(batch: Batch, counts: Partial<Outcome> = { created: batch.docs }): Outcome {
  const nothing = { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, unsent: 0 }
  return { docs: batch.docs + batch.refused.length, rejected: batch.refused, ...nothing, ...counts }
}

const stored = async (batch: Batch) => outcomeOf(batch)

interface Text {
  readonly text: string
  /** How it ends, where it does not end well. */
  readonly fault?: Error
  readonly chunk?: number
  readonly onChunk?: () => void
}

function sourceOf(id: number, { text, fault, chunk = 20, onChunk }: Text): Source {
  return {
    id,
    name: `input-${id}.ndjson`,
    async *open(signal) {
      const bytes = Buffer.from(text)
      for (let from = 0; from < bytes.length; from += chunk) {
        await new Promise(setImmediate)
        signal.throwIfAborted()
        onChunk?.()
        yield Buffer.from(bytes.subarray(from, from + chunk))
      }
      if (fault !== undefined) throw fault
    },
  }
}

const truncated = (id: number) =>
  new SluiceError(failure('INPUT_TRUNCATED', { input: `input-${id}.ndjson`, encoding: 'gzip', bytes: 1 }))

const lines = ['{"a":1}', '{"a":1,"b":[2]}', '', '  ', '[1]', 'x', '{', '{"c":"é"}', `{"long":"${'x'.repeat(150)}"}`]

function randomText(random: Seeded): string {
  const all = Array.from({ length: random.below(25) }, () => random.pick(lines))
  return all.join(random.pick(['\n', '\r\n'])) + (random.chance(0.5) ? '\n' : '')
}

/** A sender that makes of each document what comes by chance. */
function randomSend(
  random: Seeded,
  hazards: { stops: number; bugs: number; interrupt: () => void; interrupts: number },
) {
  return async (batch: Batch): Promise<Outcome> => {
    for (let turns = random.below(4); turns > 0; turns -= 1) await new Promise(setImmediate)
    if (random.chance(hazards.bugs)) throw new TypeError('a bug')
    if (random.chance(hazards.interrupts)) hazards.interrupt()
    const counts = { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, unsent: 0 }
    const rejected: Refused[] = [...batch.refused]
    const originOf = batch.origins()
    const stops = random.chance(hazards.stops)
    for (let ordinal = 0; ordinal < batch.docs; ordinal += 1) {
      const kind = random.pick(['created', 'updated', 'duplicate', 'skipped', 'unknown', 'rejected'] as const)
      if (stops && random.chance(0.5)) counts.unsent += 1
      else if (kind !== 'rejected') counts[kind] += 1
      else {
        const document = Buffer.from('{}')
        const more = { status: 400, type: 'mapping', reason: `field [f${ordinal}]`, attempts: 1 }
        rejected.push({ document, operation: 'create', origin: originOf(ordinal), ...more })
      }
    }
    return outcomeOf(batch, { ...counts, rejected, ...(stops ? { stop: filtered } : {}) })
  }
}

describe('the receipt', () => {
  test('balances whatever the inputs, the cluster, the disk and the user do', { tags: 'long' }, async () => {
    const seeds = rounds(40, 4000)
    let stopped = 0
    let interrupted = 0
    let unwritable = 0
    for (let seed = 1; seed <= seeds; seed += 1) {
      const random = seeded(seed)
      const user = new AbortController()
      const interrupt = () => user.abort('SIGINT')
      const sources = Array.from({ length: 1 + random.below(3) }, (_, id) =>
        sourceOf(id, {
          text: randomText(random),
          chunk: 1 + random.below(60),
          ...(random.chance(0.2) ? { fault: truncated(id) } : {}),
          onChunk: () => random.chance(0.005) && interrupt(),
        }),
      )
      const writes = random.below(4)
      const deadLetters = writes === 0 ? join(folder, 'none', 'x') : writes === 1 ? undefined : join(folder, `${seed}`)
      const calm = random.chance(0.5)
      const hazards = { stops: calm ? 0 : 0.1, bugs: 0, interrupts: calm ? 0 : 0.05, interrupt }
      const { loaded, ledger, letters } = await run({
        sources,
        send: randomSend(random, hazards),
        signal: user.signal,
        batchDocs: 1 + random.below(4),
        ...(deadLetters === undefined ? {} : { deadLetters }),
        ...(random.chance(0.2) ? { maxRejected: random.pick<RejectionLimit>([0, 3, '10%']) } : {}),
      }).catch((error: unknown) => {
        throw new Error(`seed ${seed}`, { cause: error })
      })
      if (writes >= 2 && ledger.counts.rejected > 0) {
        const records = readFileSync(join(folder, `${seed}`), 'utf8')
          .trimEnd()
          .split('\n')
        expect(records.map(record => JSON.parse(record) as unknown)).toHaveLength(ledger.counts.rejected)
      }
      expect(letters.records).toBe(ledger.counts.rejected)
      const code = loaded.failure?.code
      if (code === undefined) {
        expect(ledger.counts.unsent).toBe(0)
        expect(ledger.inputs.map(({ status }) => status)).toEqual(sources.map(() => 'finished'))
      }
      if (code === 'RUN_INTERRUPTED') interrupted += 1
      if (code === 'EGRESS_NOT_ALLOWED') stopped += 1
      if (code === 'DEAD_LETTERS_UNWRITABLE') unwritable += 1
    }
    for (const count of [stopped, interrupted, unwritable]) expect(count).toBeGreaterThan(seeds / 20)
  })

  test('counts every line of every input that was read to its end', async () => {
    const texts = ['{"a":1}\n\n[2]\n', '', '{"a":2}', `{"long":"${'x'.repeat(150)}"}\n{"a":3}\r\n`]
    const { loaded, ledger } = await run({ sources: texts.map((text, id) => sourceOf(id, { text })), send: stored })
    expect(loaded).toEqual({ bytesRead: texts.join('').length })
    expect(ledger.counts).toMatchObject({ read: 6, created: 3, rejected: 2, skipped: 1 })
    expect(ledger.inputs.map(({ status, read }) => [status, read])).toEqual([
      ['finished', 3],
      ['finished', 0],
      ['finished', 1],
      ['finished', 2],
    ])
  })
})

describe('an input that breaks off', () => {
  test('gives what was whole, does not keep the others from being read, and is the run’s failure', async () => {
    const sources = [
      sourceOf(0, { text: '{"a":1}\n{"a":2}\n{"a"', fault: truncated(0) }),
      sourceOf(1, { text: '{"a":3}\n' }),
      sourceOf(2, { text: '{"a":4}\n', fault: truncated(2) }),
    ]
    const { loaded, ledger, events } = await run({ sources, send: stored })
    expect(loaded.failure).toMatchObject({ code: 'INPUT_TRUNCATED', evidence: { input: 'input-0.ndjson' } })
    expect(ledger.counts).toMatchObject({ read: 4, created: 4 })
    expect(ledger.inputs.map(({ status }) => status)).toEqual(['failed', 'finished', 'failed'])
    expect(events.filter(({ type }) => type === 'warning')).toHaveLength(2)
  })

  test('in the middle of a long line leaves it unsent', async () => {
    const text = `{"a":1}\n{"long":"${'x'.repeat(300)}`
    const deadLetters = join(folder, 'broken-long')
    const { loaded, ledger } = await run({
      sources: [sourceOf(0, { text, fault: truncated(0) })],
      send: stored,
      deadLetters,
    })
    expect(loaded.failure?.code).toBe('INPUT_TRUNCATED')
    expect(ledger.counts).toMatchObject({ read: 2, created: 1, unsent: 1, rejected: 0 })
    expect(readFileSync(deadLetters, 'utf8')).toBe('')
  })
})

describe('a run that has to stop', () => {
  const text = '{"a":1}\n'.repeat(60)

  test('reads no further, awaits what is in flight, and leaves the rest unsent', async () => {
    let sends = 0
    const send = async (batch: Batch) => {
      sends += 1
      return sends === 2 ? outcomeOf(batch, { unsent: batch.docs, stop: filtered }) : outcomeOf(batch)
    }
    const { loaded, ledger } = await run({ sources: [sourceOf(0, { text }), sourceOf(1, { text })], send })
    expect(loaded.failure).toBe(filtered)
    expect(ledger.counts.unsent).toBeGreaterThan(0)
    expect(ledger.counts.read).toBeLessThan(60)
    expect(ledger.inputs.map(({ name, status }) => [name, status])).toEqual([['input-0.ndjson', 'unfinished']])
  })

  test('stops for the first reason, and says how much was settled at the end', async () => {
    const user = new AbortController()
    const send = async (batch: Batch) => {
      user.abort('SIGTERM')
      await new Promise(setImmediate)
      return outcomeOf(batch, { created: batch.docs, stop: filtered })
    }
    const { loaded, ledger } = await run({ sources: [sourceOf(0, { text })], send, signal: user.signal })
    const { read, unsent } = ledger.counts
    expect(loaded.failure).toMatchObject({
      code: 'RUN_INTERRUPTED',
      evidence: { reason: 'SIGTERM', settled: read - unsent },
    })
    expect(ledger.counts.created).toBe(read - unsent)
  })

  test('was not interrupted when there was nothing left to interrupt', async () => {
    const user = new AbortController()
    const send = async (batch: Batch) => {
      user.abort()
      return outcomeOf(batch)
    }
    const { loaded } = await run({ sources: [sourceOf(0, { text: '{"a":1}\n' })], send, signal: user.signal })
    expect(loaded.failure).toBeUndefined()
  })

  test('counts what was read and still waited for its batch as unsent', async () => {
    const user = new AbortController()
    let chunks = 0
    const onChunk = () => {
      chunks += 1
      if (chunks === 3) user.abort()
    }
    const source = sourceOf(0, { text, chunk: 16, onChunk })
    const { loaded, ledger } = await run({ sources: [source], send: stored, signal: user.signal, batchDocs: 100 })
    expect(loaded.failure?.code).toBe('RUN_INTERRUPTED')
    expect(ledger.counts.read).toBeGreaterThanOrEqual(4)
    expect(ledger.counts).toMatchObject({ created: 0, unsent: ledger.counts.read })
  })

  test('before it began reads nothing', async () => {
    const { loaded, ledger } = await run({
      sources: [sourceOf(0, { text })],
      send: stored,
      signal: AbortSignal.abort(),
    })
    expect(loaded.failure).toMatchObject({
      code: 'RUN_INTERRUPTED',
      evidence: { reason: 'aborted by the calling program' },
    })
    expect(ledger.counts.read).toBe(0)
  })

  test('because the dead letters cannot be written counts what it could not write as unsent', async () => {
    const deadLetters = join(folder, 'missing', 'dead.ndjson')
    const { loaded, ledger } = await run({
      sources: [sourceOf(0, { text: `[1]\n${text}` })],
      send: stored,
      deadLetters,
    })
    expect(loaded.failure?.code).toBe('DEAD_LETTERS_UNWRITABLE')
    expect(ledger.counts).toMatchObject({ rejected: 0 })
    expect(ledger.counts.unsent).toBeGreaterThan(0)
    expect(existsSync(deadLetters)).toBe(false)
    const long = await run({
      sources: [sourceOf(0, { text: `{"a":"${'x'.repeat(200)}"}\n${text}` })],
      send: stored,
      deadLetters,
    })
    expect(long.loaded.failure?.code).toBe('DEAD_LETTERS_UNWRITABLE')
    expect(long.ledger.counts).toMatchObject({ read: 1, unsent: 1 })
  })

  test('for a share of rejections does so at its end where there were few documents', async () => {
    const { loaded } = await run({
      sources: [sourceOf(0, { text: '{"a":1}\n[1]\n' })],
      send: stored,
      maxRejected: '10%',
    })
    expect(loaded.failure?.code).toBe('TOO_MANY_REJECTED')
  })
})

describe('a bug', () => {
  test('is thrown once everything in flight has ended, for every origin of the error', async () => {
    let ended = 0
    const send = async (batch: Batch) => {
      for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate)
      ended += 1
      return outcomeOf(batch)
    }
    const bug = new TypeError('undefined is not a function')
    const source = sourceOf(0, { text: '{"a":1}\n'.repeat(3), chunk: 24, fault: bug })
    await expect(run({ sources: [source], send })).rejects.toBe(bug)
    expect(ended).toBe(1)
    const failing = async () => await Promise.reject(bug)
    await expect(run({ sources: [sourceOf(0, { text: '{"a":1}\n' })], send: failing })).rejects.toBe(bug)
  })
})
