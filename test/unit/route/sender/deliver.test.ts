import { describe, expect, test } from 'vitest'
import { type Failure, failure } from '../../../../src/base/failure/failure.js'
import type { Outcome } from '../../../../src/base/flow.js'
import { deliver } from '../../../../src/route/sender/deliver.js'
import type { DeliveryOptions } from '../../../../src/route/sender/part.js'
import { type Send, type Settled, type Verdict, STOPPING } from '../../../../src/route/sender/send.js'
import { SkippingClock } from '../../../support/load/held-clock.js'
import { batchOf, documentsOf } from '../../../support/load/sender-batch.js'

const cluster = 'https://cluster.example'
const overloaded = failure('CLUSTER_OVERLOADED', { cluster, reason: 'es_rejected: queue full' })
const unavailable = failure('CLUSTER_UNAVAILABLE', { cluster, observed: 'status 502' })
const blocked = failure('INDEX_BLOCKED', { index: 'logs', reason: 'flood stage' })
const refusedRequest = failure('REQUEST_REFUSED', { cluster, status: 400, reason: 'no' })
const filtered = failure('EGRESS_NOT_ALLOWED', { cluster, refused: 1, probes: 1, observed: 'Forbidden' })

const settled = (more: Partial<Settled> = {}): Settled => ({
  created: 0,
  updated: 0,
  duplicate: 0,
  skipped: 0,
  unknown: 0,
  refused: [],
  ...more,
})
const done = (created: number, more: Partial<Settled> = {}): Verdict => ({
  kind: 'done',
  settled: settled({ created, ...more }),
})
const wait = (named: Failure, delivery: 'none' | 'possible' = 'none', retryAfterMs?: number): Verdict => ({
  kind: 'wait',
  failure: named,
  delivery,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
})
const busy = (items: number[], more: Partial<Settled> = {}, delivery: 'none' | 'possible' = 'none'): Verdict => ({
  kind: 'retryItems',
  items,
  settled: settled(more),
  failure: overloaded,
  delivery,
})
const tooLarge: Verdict = {
  kind: 'split',
  refusal: { status: 413, type: 'request_too_large', reason: 'the request is too large' },
  delivery: 'none',
}
const spoilt = (type = 'illegal_argument_exception'): Verdict => ({
  kind: 'split',
  refusal: { status: 400, type, reason: 'spoilt' },
  alike: refusedRequest,
  delivery: 'possible',
})
const stop = (named: Failure, delivery: 'none' | 'possible' = 'none'): Verdict => ({
  kind: 'stop',
  failure: named,
  delivery,
})

interface Sent {
  readonly documents: string[]
  readonly bytes: string
  readonly resent: boolean
}

interface Delivered {
  readonly outcome: Outcome
  readonly sent: Sent[]
  readonly clock: SkippingClock
  readonly retries: number[]
}

type Script = (sent: Sent, at: number, halt: () => void) => Verdict

/** Delivers documents `{"n":0}`, `{"n":1}`… to a cluster that answers as the script says. */
async function delivered(
  documents: number,
  script: Script,
  {
    tookMs = 0,
    onSleep,
    ...more
  }: Partial<DeliveryOptions> & { tookMs?: number; onSleep?: (halt: () => void) => void } = {},
): Promise<Delivered> {
  const batch = await batchOf(numbered(documents), more.safeToResend === false ? { ids: { from: 'cluster' } } : {})
  const clock = new SkippingClock()
  const halted = new AbortController()
  const halt = () => halted.abort()
  clock.onSleep = () => onSleep?.(halt)
  const sent: Sent[] = []
  const retries: number[] = []
  const send: Send = async ({ body, history: { resent } }) => {
    await Promise.resolve()
    const one = { documents: documentsOf(body), bytes: body.bytes.toString('utf8'), resent }
    expect(one.documents).toHaveLength(body.items)
    sent.push(one)
    clock.advance(tookMs)
    return script(one, sent.length - 1, halt)
  }
  const outcome = await deliver(batch, send, {
    ownIds: true,
    safeToResend: true,
    maxElapsedMs: 1_000_000,
    halted: halted.signal,
    learning: { accepted: 0, lostInARow: 1 },
    access: { now: () => clock.now(), lost: () => false },
    random: () => 1,
    onRetry: (_, items) => retries.push(items),
    pause: async ms => await clock.sleep(ms, halted.signal).catch(() => undefined),
    ...more,
  })
  const { created, updated, duplicate, skipped, rejected, unknown, unsent } = outcome
  expect(created + updated + duplicate + skipped + rejected.length + unknown + unsent).toBe(outcome.docs)
  return { outcome, sent, clock, retries }
}

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `{"n":${n}}`)
const one = (n: number) => `{"n":${n}}`

/** Each look at the count finds one more accepted request. */
function acceptingMore(): DeliveryOptions['learning'] {
  let accepted = 0
  return {
    get accepted() {
      accepted += 1
      return accepted
    },
    lostInARow: 1,
  }
}

describe('busy items', () => {
  test('are sent again alone, byte for byte, as often as it takes', async () => {
    const answers = [
      busy([1, 3, 4], { created: 2 }),
      busy([0, 2], { created: 1 }),
      busy([1], { duplicate: 1 }),
      done(1),
    ]
    const { outcome, sent, retries } = await delivered(5, (_, at) => answers[at] as Verdict)
    expect(sent.map(({ documents }) => documents)).toEqual([
      numbered(5),
      [one(1), one(3), one(4)],
      [one(1), one(4)],
      [one(4)],
    ])
    const pair = (n: number) => `{"create":{"_id":"t-${n + 1}"}}\n${one(n)}\n`
    expect(sent[2]?.bytes).toBe(pair(1) + pair(4))
    expect(sent.map(({ resent }) => resent)).toEqual([false, true, true, true])
    expect(outcome).toMatchObject({ docs: 5, created: 4, duplicate: 1, rejected: [], unsent: 0 })
    expect(retries).toEqual([3, 2, 1])
  })

  test('keep their place when they are refused after they were moved', async () => {
    const refused = [{ item: 1, status: 400, type: 'mapping', reason: 'no' }]
    const answers = [busy([2, 3], { created: 2 }), done(1, { refused })]
    const { outcome } = await delivered(4, (_, at) => answers[at] as Verdict)
    expect([...outcome.rejected]).toMatchObject([
      { id: 't-4', attempts: 2, status: 400, origin: { input: 'input', document: 4, line: 4, offset: 24 } },
    ])
    expect(String([...outcome.rejected][0]?.document)).toBe(one(3))
  })

  test('that never ease are sent in halves', async () => {
    const { outcome, sent } = await delivered(4, ({ documents }) =>
      documents.length > 2 ? busy(documents.map((_, item) => item)) : done(documents.length),
    )
    expect(sent.map(({ documents }) => documents.length)).toEqual([4, 4, 4, 4, 4, 2, 2])
    expect(outcome).toMatchObject({ created: 4 })
  })
})

describe('answers that are too long to read', () => {
  const long = failure('CLUSTER_ANSWER_TOO_LONG', { cluster: 'c', observed: 'a body of more than 9 bytes' })
  const tooLong: Verdict = { kind: 'wait', failure: long, delivery: 'possible', tries: 6 }

  test('are read from the halves of a body, whose ids keep a second copy out', async () => {
    const { outcome, sent } = await delivered(4, ({ documents }) =>
      documents.length > 2 ? tooLong : done(0, { duplicate: documents.length }),
    )
    expect(sent.map(({ documents }) => documents.length)).toEqual([4, 4, 4, 4, 4, 2, 2])
    expect(outcome).toMatchObject({ duplicate: 4, unknown: 0 })
  })

  test('end the retries of a single document, whose outcome is unknown', async () => {
    const { outcome, sent } = await delivered(1, () => tooLong)
    expect(sent).toHaveLength(6)
    expect(outcome).toMatchObject({ unknown: 1, rejected: [], stop: { code: 'CLUSTER_ANSWER_TOO_LONG' } })
  })

  test('end the first send of a document without an id of its own, because a second could store it twice', async () => {
    const { outcome, sent } = await delivered(2, () => tooLong, { ownIds: false, safeToResend: false })
    expect(sent).toHaveLength(1)
    expect(outcome).toMatchObject({ unknown: 2 })
  })
})

describe('pressure on one half of a body', () => {
  const hasBig = (documents: string[]) => documents.includes(one(2))
  const pressed = async (documents: number, more: Partial<DeliveryOptions> = {}) =>
    await delivered(
      documents,
      ({ documents: sent }) => (hasBig(sent) ? busy(sent.map((_, item) => item)) : done(sent.length)),
      more,
    )

  test('lets the other half go first, and comes down to the document that is the reason', async () => {
    const { outcome, sent } = await pressed(16)
    expect(outcome).toMatchObject({ created: 15, unsent: 0 })
    expect([...outcome.rejected]).toMatchObject([{ type: 'never_accepted', origin: { document: 3 } }])
    expect(outcome).not.toHaveProperty('stop')
    const refusedOf = (items: number) => sent.filter(({ documents }) => hasBig(documents) && documents.length === items)
    expect([16, 8, 4, 2, 1].map(items => refusedOf(items).length)).toEqual([5, 3, 3, 2, 8])
  })

  test('of which nothing was taken at once is borne as long as that on a whole body', async () => {
    const { sent } = await delivered(4, ({ documents }, at) =>
      documents.length === 1 || (documents.length === 2 && at === 11)
        ? done(documents.length)
        : busy(documents.map((_, item) => item)),
    )
    expect(sent.map(({ documents }) => documents.length)).toEqual([4, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1])
  })
})

describe('documents that are stored already', () => {
  const there = (created: number, left: number[]): Verdict => ({
    kind: 'there',
    settled: settled({ duplicate: created }),
    left,
  })

  test('are not sent: the others are, and their send is the first', async () => {
    const answers = [there(2, [1, 3]), done(1, { refused: [{ item: 1, status: 400, type: 'mapping', reason: 'no' }] })]
    const { outcome, sent } = await delivered(4, (_, at) => answers[at] as Verdict)
    expect(sent.map(({ documents }) => documents)).toEqual([numbered(4), [one(1), one(3)]])
    expect(outcome).toMatchObject({ created: 1, duplicate: 2 })
    expect([...outcome.rejected]).toMatchObject([{ origin: { document: 4 }, attempts: 1 }])
  })

  test('may be all of them', async () => {
    const { outcome, sent } = await delivered(2, () => there(2, []))
    expect(sent).toHaveLength(1)
    expect(outcome).toMatchObject({ duplicate: 2, created: 0, unsent: 0 })
  })

  test('are asked for again after a while when the cluster is too busy to tell, and nothing is rejected for that', async () => {
    const unsent: Verdict = { kind: 'wait', failure: overloaded, delivery: 'none', unsent: true }
    const { outcome, clock } = await delivered(1, (_, at) => (at < 9 ? unsent : done(1)), {
      learning: acceptingMore(),
    })
    expect(outcome).toMatchObject({ created: 1, rejected: [] })
    expect(clock.slept.slice(0, 4)).toEqual([250, 500, 1000, 2000])
  })
})

describe('a request that is too large', () => {
  test('is halved until it passes', async () => {
    const { outcome, sent } = await delivered(7, ({ documents }) =>
      documents.length > 2 ? tooLarge : done(documents.length),
    )
    expect(outcome).toMatchObject({ created: 7, rejected: [] })
    expect(sent.filter(({ documents }) => documents.length <= 2).flatMap(({ documents }) => documents)).toEqual(
      numbered(7),
    )
  })

  test('comes down to the one document that is rejected, its neighbours stored', async () => {
    const { outcome } = await delivered(6, ({ documents }) =>
      documents.includes(one(4)) ? tooLarge : done(documents.length),
    )
    expect(outcome).toMatchObject({ created: 5, unsent: 0 })
    expect([...outcome.rejected]).toMatchObject([{ status: 413, type: 'request_too_large', origin: { document: 5 } }])
    expect(outcome).not.toHaveProperty('stop')
  })

  test('may also show as a connection that breaks', async () => {
    const { outcome } = await delivered(4, ({ documents }) =>
      documents.length > 1 ? wait(unavailable, 'possible') : done(1),
    )
    expect(outcome).toMatchObject({ created: 4, unknown: 0 })
  })
})

describe('a request that is refused as a whole', () => {
  test('comes down to the document that spoils it', async () => {
    const { outcome, sent } = await delivered(8, ({ documents }) =>
      documents.includes(one(2)) ? spoilt() : done(documents.length),
    )
    expect(outcome).toMatchObject({ created: 7 })
    expect([...outcome.rejected]).toMatchObject([{ status: 400, origin: { document: 3 }, attempts: 4 }])
    expect(outcome).not.toHaveProperty('stop')
    expect(sent.length).toBeLessThan(8)
  })

  test('stops the run when both halves are refused alike', async () => {
    const { outcome, sent } = await delivered(8, () => spoilt())
    expect(outcome).toMatchObject({ unknown: 8, unsent: 0, rejected: [], stop: { code: 'REQUEST_REFUSED' } })
    expect(sent.map(({ documents }) => documents.length)).toEqual([8, 4, 4])
  })

  test('goes on when the halves are refused each in its own way', async () => {
    const { outcome } = await delivered(4, ({ documents }) => {
      const found = documents.find(document => document === one(0) || document === one(3))
      if (found === undefined) return done(documents.length)
      return spoilt(documents.includes(one(0)) ? 'first' : 'second')
    })
    expect(outcome).toMatchObject({ created: 2 })
    expect([...outcome.rejected].map(({ type }) => type)).toEqual(['first', 'second'])
  })

  test('sends no half when nothing more may be sent', async () => {
    const { outcome, sent } = await delivered(4, (_, _at, halt) => {
      halt()
      return spoilt()
    })
    expect(sent).toHaveLength(1)
    expect(outcome).toMatchObject({ unknown: 4 })
  })

  test('is not sent in parts when the cluster makes the ids', async () => {
    const { outcome, sent } = await delivered(4, () => spoilt(), { safeToResend: false })
    expect(sent).toHaveLength(1)
    expect(outcome).toMatchObject({ unknown: 4, stop: { code: 'REQUEST_REFUSED' } })
  })
})

describe('pressure on a single document', () => {
  test('ends in its rejection when others are taken meanwhile', async () => {
    const { outcome, sent } = await delivered(1, () => wait(overloaded), { learning: acceptingMore() })
    expect(sent).toHaveLength(8)
    expect([...outcome.rejected]).toMatchObject([{ status: 429, type: 'never_accepted', attempts: 8 }])
    expect([...outcome.rejected][0]?.reason).toContain('es_rejected: queue full')
  })

  test('is waited out if no document is taken', async () => {
    const { outcome, sent } = await delivered(1, (_, at) => (at < 20 ? wait(overloaded) : done(1)))
    expect(sent).toHaveLength(21)
    expect(outcome).toMatchObject({ created: 1, rejected: [] })
  })

  test('is waited out when it is the cluster, and not the document, that cannot', async () => {
    const learning = acceptingMore()
    for (const named of [unavailable, blocked]) {
      const { outcome } = await delivered(1, (_, at) => (at < 20 ? wait(named) : done(1)), { learning })
      expect(outcome).toMatchObject({ created: 1, rejected: [] })
    }
  })

  test('leaves a document unknown that an earlier send may have stored', async () => {
    const { outcome } = await delivered(1, (_, at) => (at === 0 ? wait(unavailable, 'possible') : wait(overloaded)), {
      learning: acceptingMore(),
    })
    expect(outcome).toMatchObject({ unknown: 1, rejected: [] })
    expect(outcome).not.toHaveProperty('stop')
  })
})

describe('waiting', () => {
  test('takes longer each time, and as long as the server asks for', async () => {
    const asked = [undefined, undefined, 5000, undefined]
    const { clock, outcome } = await delivered(1, (_, at) => (at < 4 ? wait(unavailable, 'none', asked[at]) : done(1)))
    expect(clock.slept).toEqual([250, 500, 5000, 2000])
    expect(outcome).toMatchObject({ created: 1 })
  })

  test('is over after the time that was allowed: the run stops, with what it waited for', async () => {
    const cases: [Verdict, object][] = [
      [wait(unavailable), { unsent: 3, unknown: 0, stop: unavailable }],
      [wait(unavailable, 'possible'), { unsent: 0, unknown: 3, stop: unavailable }],
      [wait(blocked), { unsent: 3, unknown: 0, stop: blocked }],
      [
        wait(overloaded, 'none', 90_000),
        { unsent: 3, stop: { code: 'CLUSTER_OVERLOADED', evidence: { elapsedMs: 0 } } },
      ],
    ]
    for (const [verdict, expected] of cases) {
      const { outcome, clock } = await delivered(3, () => verdict, { maxElapsedMs: 60_000 })
      expect(outcome).toMatchObject(expected)
      expect(clock.now()).toBeLessThanOrEqual(60_000)
    }
  })

  test('of the parts of a body counts from when the whole was refused', async () => {
    const { clock, outcome } = await delivered(64, () => wait(overloaded, 'none', 10_000), { maxElapsedMs: 60_000 })
    expect(outcome).toMatchObject({ unsent: 64, stop: { code: 'CLUSTER_OVERLOADED' } })
    expect(clock.now()).toBeLessThanOrEqual(60_000)
  })

  test('starts anew when some items were taken', async () => {
    const { outcome } = await delivered(
      6,
      ({ documents }) => (documents.length === 1 ? done(1) : busy(documents.map((_, n) => n).slice(1), { created: 1 })),
      { maxElapsedMs: 1000, tookMs: 400 },
    )
    expect(outcome).toMatchObject({ created: 6, unsent: 0 })
  })

  test('ends when nothing more may be sent', async () => {
    const { outcome, sent } = await delivered(3, () => wait(unavailable), { onSleep: halt => halt() })
    expect(sent).toHaveLength(1)
    expect(outcome).toMatchObject({ unsent: 3 })
    expect(outcome).not.toHaveProperty('stop')
  })
})

describe('connections and timers that are left behind', () => {
  test('was not sent when a refusal is certain, and is unknown when it is not', async () => {
    expect((await delivered(2, () => stop(filtered))).outcome).toMatchObject({ unsent: 2, unknown: 0, stop: filtered })
    expect((await delivered(2, () => stop(filtered, 'possible'))).outcome).toMatchObject({ unsent: 0, unknown: 2 })
  })

  test('stays unknown after a send without an answer, whatever refuses it later', async () => {
    const laters: Verdict[] = [stop(filtered), wait(overloaded, 'none', 2_000_000), busy([0, 1, 2, 3], {}, 'none')]
    for (const later of laters) {
      const { outcome } = await delivered(4, (_, at, halt) => {
        if (at === 0) return wait(unavailable, 'possible')
        if (at === 2) halt()
        return later
      })
      expect(outcome).toMatchObject({ unsent: 0, unknown: 4 })
    }
  })

  test('stays unknown in both halves of a body that was sent without an answer', async () => {
    const answers = [wait(unavailable, 'possible'), tooLarge, stop(filtered)]
    const { outcome } = await delivered(4, (_, at) => answers[at] as Verdict)
    expect(outcome).toMatchObject({ unsent: 0, unknown: 4, stop: filtered })
  })

  test('of items that ran out of time is unknown', async () => {
    const answers = [busy([1, 2], { created: 1 }, 'possible'), stop(filtered)]
    const { outcome } = await delivered(3, (_, at) => answers[at] as Verdict)
    expect(outcome).toMatchObject({ created: 1, unsent: 0, unknown: 2 })
  })

  test('is the second half when the first one stops the run', async () => {
    const answers = [tooLarge, stop(filtered)]
    const { outcome, sent } = await delivered(4, (_, at) => answers[at] as Verdict)
    expect(sent).toHaveLength(2)
    expect(outcome).toMatchObject({ unsent: 4, stop: filtered })
  })

  test('is everything when nothing may be sent from the start', async () => {
    const halted = AbortSignal.abort()
    const { outcome, sent } = await delivered(3, () => done(3), { halted })
    expect(sent).toHaveLength(0)
    expect(outcome).toMatchObject({ unsent: 3, unknown: 0 })
  })
})

describe('ids of the cluster', () => {
  test('are never sent again when the outcome is unknown', async () => {
    const { outcome, sent } = await delivered(3, () => wait(unavailable, 'possible'), { safeToResend: false })
    expect(sent).toHaveLength(1)
    expect(outcome).toMatchObject({ unknown: 3 })
    expect(outcome).not.toHaveProperty('stop')
  })

  test('are sent again when the refusal is certain', async () => {
    const { outcome } = await delivered(3, (_, at) => (at === 0 ? wait(overloaded) : done(3)), { safeToResend: false })
    expect(outcome).toMatchObject({ created: 3 })
  })

  test('stop the run after many losses in a row', async () => {
    const losing = async (lost: number) =>
      await delivered(1, () => wait(unavailable, 'possible'), {
        safeToResend: false,
        learning: { accepted: 0, lostInARow: lost },
      })
    for (const lost of [1, 3, 7]) expect((await losing(lost)).outcome).not.toHaveProperty('stop')
    const { clock, outcome } = await losing(8)
    expect(clock.slept).toEqual([])
    expect(outcome).toMatchObject({ unknown: 1, stop: unavailable })
  })

  test('are not sent where there is no place for them any more', async () => {
    const { outcome } = await delivered(2, () => STOPPING)
    expect(outcome).toMatchObject({ unsent: 2 })
  })
})
