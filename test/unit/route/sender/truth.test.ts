import { expect, test } from 'vitest'
import { rounds } from '../../../support/rounds.js'
import { failure } from '../../../../src/base/failure/failure.js'
import type { Outcome } from '../../../../src/base/flow.js'
import { RouteError } from '../../../../src/route/proxy/route-error.js'
import { deliver } from '../../../../src/route/sender/deliver.js'
import { judgeAnswer, judgeError } from '../../../../src/route/sender/judge-answer.js'
import type { Send, Verdict } from '../../../../src/route/sender/send.js'
import { SkippingClock } from '../../../support/load/held-clock.js'
import { type Seeded, seeded } from '../../../support/random/seeded.js'
import { batchOf } from '../../../support/load/sender-batch.js'

const cluster = 'https://cluster.example'
const route = { form: 'tunnel' as const, proxy: 'http://proxy.example', target: new URL(cluster) }

/** What a document is, beside what happens on the way: refused for good, or the ruin of its whole request. */
type Nature = 'good' | 'refused' | 'poison' | 'huge'

interface Told {
  /** How often the cluster received it. */
  received: number
  stored: boolean
  /** What an answer that arrived said of it. */
  settledAs?: 'created' | 'duplicate' | 'refused'
}

/** A cluster that knows the truth, behind a way that fails at random. */
class TrueCluster {
  readonly told: Told[]
  readonly #natures: readonly Nature[]
  readonly #random: Seeded
  readonly #safe: boolean
  readonly #troubles: number
  calls = 0

  constructor(natures: readonly Nature[], random: Seeded, safe: boolean) {
    this.#natures = natures
    this.#random = random
    this.#safe = safe
    this.#troubles = random.pick([0.1, 0.4, 0.8])
    this.told = natures.map(() => ({ received: 0, stored: false }))
  }

  /** One request, as the sender would have it judged. */
  request(numbers: readonly number[], resent: boolean): Verdict {
    this.calls += 1
    const random = this.#random
    if (random.chance(this.#troubles)) {
      switch (random.below(9)) {
        case 0:
          return this.#lost('none')
        case 1:
          return this.#answer(numbers, resent, 403, { ok: false, message: 'Forbidden' }, random.chance(0.1))
        case 2:
          return this.#error(numbers, resent, 429, 'es_rejected_execution_exception')
        case 3:
          return this.#error(numbers, resent, 503, 'cluster_block_exception')
        case 4:
          this.#receive(numbers)
          this.#store(numbers.filter(() => random.chance(0.5)))
          return this.#lost('possible')
        case 5:
          this.#receive(numbers)
          this.#store(numbers)
          return this.#answer(numbers, resent, random.pick([502, 504]), '<html>Bad Gateway</html>', true)
        case 6:
          this.#receive(numbers)
          this.#store(numbers)
          return this.#lost('possible')
        case 7:
          return this.#items(numbers, resent, 0.6)
        default:
          // Never for one alone: what is too large by itself was too large before.
          return this.#answer(numbers, resent, 413, '', numbers.length > 1)
      }
    }
    if (numbers.some(number => this.#natures[number] === 'huge')) return this.#answer(numbers, resent, 413, '', true)
    const poison = numbers.findIndex(number => this.#natures[number] === 'poison')
    if (poison !== -1) {
      this.#receive(numbers)
      // As Elasticsearch 9 does, which takes a body in pieces.
      if (random.chance(0.5)) this.#store(numbers.slice(0, poison))
      return this.#error([], resent, 400, 'illegal_argument_exception')
    }
    return this.#items(numbers, resent, random.pick([0, 0.2]))
  }

  #items(numbers: readonly number[], resent: boolean, busy: number): Verdict {
    this.#receive(numbers)
    const items = numbers.map(number => {
      const status = this.#index(number, resent, busy)
      const error = status < 300 ? {} : { error: { type: 'type', reason: 'reason' } }
      return { create: { status, ...error } }
    })
    return this.#judge(numbers.length, resent, 200, { errors: items.some(item => item.create.status > 201), items })
  }

  #index(number: number, resent: boolean, busy: number): number {
    const told = this.told[number] as Told
    if (this.#random.chance(busy)) {
      const status = this.#random.pick([429, 503, 504])
      if (status === 504 && this.#random.chance(0.5)) this.#store([number])
      return status
    }
    expect(told.settledAs, 'a document is sent again after its outcome').toBeUndefined()
    if (this.#natures[number] === 'refused') {
      told.settledAs = 'refused'
      return 400
    }
    if (told.stored && this.#safe) {
      expect(resent, 'an id that is there already was sent before').toBe(true)
      told.settledAs = 'duplicate'
      return 409
    }
    this.#store([number])
    told.settledAs = 'created'
    return 201
  }

  #receive(numbers: readonly number[]): void {
    for (const number of numbers) (this.told[number] as Told).received += 1
  }

  #store(numbers: readonly number[]): void {
    for (const number of numbers) {
      if (this.#natures[number] !== 'good') continue
      const told = this.told[number] as Told
      if (!this.#safe) expect(told.stored, 'a document is stored twice').toBe(false)
      told.stored = true
    }
  }

  #lost(delivery: 'none' | 'possible'): Verdict {
    const lost = failure('CLUSTER_UNAVAILABLE', { cluster, observed: 'the connection broke' })
    return judgeError(new RouteError({ code: 'ECONNRESET', phase: 'exchange', delivery, failure: lost }), cluster)
  }

  #error(numbers: readonly number[], resent: boolean, status: number, type: string): Verdict {
    return this.#answer(numbers, resent, status, { error: { type, reason: 'reason' }, status }, true)
  }

  #answer(numbers: readonly number[], resent: boolean, status: number, body: unknown, really: boolean): Verdict {
    if (!really) return this.#items(numbers, resent, 0)
    return this.#judge(numbers.length, resent, status, body)
  }

  #judge(items: number, resent: boolean, statusCode: number, body: unknown): Verdict {
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    return judgeAnswer(
      { statusCode, headers: {}, body: bytes },
      {
        body: {
          items,
          index: 'logs',
          operation: 'create',
          ownIds: this.#safe,
          safeToResend: this.#safe,
          resent,
          doubtful: false,
          onConflict: 'reject',
        },
        cluster,
        route,
        now: 0,
      },
    )
  }
}

function expectTruth(outcome: Outcome, natures: readonly Nature[], told: readonly Told[]): void {
  const { created, updated, duplicate, skipped, rejected, unknown, unsent } = outcome
  expect(created + updated + duplicate + skipped + rejected.length + unknown + unsent).toBe(natures.length)
  expect({ updated, skipped }).toEqual({ updated: 0, skipped: 0 })
  const settledAs = (as: Told['settledAs']) => told.filter(one => one.settledAs === as).length
  expect(created).toBe(settledAs('created'))
  const ordinals = [...rejected].map(({ origin: { document = 0 } }) => document - 1)
  expect(new Set(ordinals).size).toBe(ordinals.length)
  for (const ordinal of ordinals) expect(told[ordinal]?.stored, 'a rejected document is stored').toBe(false)
  for (const [ordinal, one] of told.entries())
    expect(one.settledAs === 'refused' && !ordinals.includes(ordinal)).toBe(false)
  expect(duplicate).toBe(settledAs('duplicate'))
  // Of what has no outcome, all that may be stored has to be among the unknown.
  const left = told.filter((one, ordinal) => one.settledAs === undefined && !ordinals.includes(ordinal))
  expect(left).toHaveLength(unknown + unsent)
  expect(left.filter(({ stored }) => stored).length, 'an unsent document is stored').toBeLessThanOrEqual(unknown)
}

async function run(seed: number): Promise<void> {
  const random = seeded(seed)
  const natures = Array.from({ length: 1 + random.below(random.pick([2, 6, 30])) }, () =>
    random.pick<Nature>(random.chance(0.2) ? ['refused', 'poison', 'huge'] : ['good']),
  )
  const safe = random.chance(0.7)
  const ids = safe ? ({ from: 'run' } as const) : ({ from: 'cluster' } as const)
  const lines = natures.map((_, n) => `{"n":${n},"pad":"${'x'.repeat(random.below(20))}"}`)
  const batch = await batchOf(lines, { ids })
  const pairs = lines.map((line, n) => `{"create":{${safe ? `"_id":"t-${n + 1}"` : ''}}}\n${line}\n`)
  const truth = new TrueCluster(natures, random, safe)
  const clock = new SkippingClock()
  const halted = new AbortController()
  const haltAt = random.chance(0.3) ? random.below(12) : Infinity
  const haltInSleep = random.chance(0.1)
  clock.onSleep = () => haltInSleep && halted.abort()
  let accepted = 0
  const send: Send = async ({ body, history: { resent } }) => {
    await Promise.resolve()
    expect(halted.signal.aborted, 'something is sent after the end').toBe(false)
    const text = body.bytes.toString('utf8')
    const numbers = [...text.matchAll(/"n":(\d+)/g)].map(([, digits]) => Number(digits))
    expect(text).toBe(numbers.map(number => pairs[number]).join(''))
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    expect(numbers).toHaveLength(body.items)
    if (truth.calls === haltAt) halted.abort()
    accepted += random.below(2)
    clock.advance(random.below(50))
    return truth.request(numbers, resent)
  }
  const outcome = await deliver(batch, send, {
    ownIds: safe,
    safeToResend: safe,
    maxElapsedMs: random.pick([1000, 60_000, 900_000]),
    halted: halted.signal,
    learning: {
      get accepted() {
        return accepted
      },
      get lostInARow() {
        return random.below(10)
      },
    },
    access: { now: () => clock.now(), lost: () => false },
    random: random.real,
    onRetry: (_, documents) => expect(documents).toBeGreaterThan(0),
    pause: async ms => await clock.sleep(ms, halted.signal).catch(() => undefined),
  })
  expectTruth(outcome, natures, truth.told)
  for (const { document, origin, id } of outcome.rejected) {
    const { document: number = 0 } = origin
    expect(String(document)).toBe(lines[number - 1])
    const before = lines.slice(0, number - 1)
    const offset = before.reduce((sum, line) => sum + line.length + 1, 0)
    expect(origin).toEqual({ input: 'input', document: number, line: number, offset })
    expect(id).toBe(safe ? `t-${origin.document}` : undefined)
  }
}

test(
  'whatever the cluster and the way do, each document has one outcome, and it is true',
  { tags: 'long' },
  async () => {
    for (let seed = 1; seed <= rounds(120, 20_000); seed += 1) {
      await run(seed).catch((error: unknown) => {
        throw new Error(`seed ${seed}`, { cause: error })
      })
    }
  },
)
