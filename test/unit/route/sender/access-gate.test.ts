import { describe, expect, test } from 'vitest'
import { until } from '../../../support/eventually.js'
import { type Failure, SluiceError, failure } from '../../../../src/base/failure/failure.js'
import { AccessGate, type Blocked } from '../../../../src/route/sender/layers/access.js'
import type { Verdict } from '../../../../src/route/sender/send.js'
import { HeldClock } from '../../../support/load/held-clock.js'

const cluster = 'https://cluster.example'
const filtered = failure('EGRESS_NOT_ALLOWED', { cluster, refused: 1, probes: 1, observed: 'Forbidden' })
const bothRefused = failure('EGRESS_NOT_ALLOWED', { cluster, refused: 16, probes: 16, observed: 'Forbidden' })
const mixed = failure('EGRESS_PARTLY_ALLOWED', { how: 'refused', cluster, refused: 3, probes: 6 })
const proxyAuth = failure('PROXY_AUTH_REJECTED', { proxy: 'p', observed: 'status 407' })
const clusterGone = failure('CLUSTER_UNAVAILABLE', { cluster, observed: 'status 503' })
const blocked = failure('INDEX_BLOCKED', { index: 'logs', reason: 'flood stage' })

const settled = { created: 1, updated: 0, duplicate: 0, skipped: 0, unknown: 0, refused: [] }
const done: Verdict = { kind: 'done', settled }
const stop = (named: Failure, delivery: 'none' | 'possible' = 'none'): Verdict => ({
  kind: 'stop',
  failure: named,
  delivery,
})
const wait = (named: Failure): Verdict => ({ kind: 'wait', failure: named, delivery: 'none' })

interface Passing {
  readonly verdict: Promise<Verdict>
  /** How often its body was sent. */
  readonly sent: number
  answer(verdict: Verdict): Promise<void>
}

/** A gate whose requests and probes are answered by the test. */
function open(waitMs: number) {
  const clock = new HeldClock()
  const halting = new AbortController()
  const told: Blocked[] = []
  const unblocked: [string, number][] = []
  const probes: ((seen?: Failure) => void)[] = []
  let renewals = 0
  let problem: string | undefined
  const gate = new AccessGate({
    waitMs,
    clock,
    wallClock: () => Date.UTC(2026, 0, 1) + clock.now(),
    random: () => 1,
    halted: halting.signal,
    probe: async signal =>
      await new Promise<void>((resolve, reject) => {
        probes.push(seen => (seen === undefined ? resolve() : reject(new SluiceError(seen))))
        signal.addEventListener('abort', () => reject(new Error('aborted')))
      }),
    renew: async () => {
      renewals += 1
      return await Promise.resolve(problem)
    },
    onBlocked: event => told.push(event),
    onUnblocked: ({ code }, waitedMs) => unblocked.push([code, waitedMs]),
  })
  const send = (): Passing => {
    let answer: ((verdict: Verdict) => void) | undefined
    let sent = 0
    const verdict = gate.pass(async () => {
      sent += 1
      return await new Promise<Verdict>(resolve => (answer = resolve))
    })
    return {
      verdict,
      get sent() {
        return sent
      },
      answer: async given => {
        await until(() => answer !== undefined)
        const answerNow = answer
        answer = undefined
        answerNow?.(given)
        await aMoment()
      },
    }
  }
  /** Answers the round of probes that is under way. */
  const probed = async (seen?: Failure) => {
    await until(() => probes.length > 0)
    probes.shift()?.(seen)
    await aMoment()
  }
  return {
    gate,
    clock,
    told,
    unblocked,
    probes,
    send,
    probed,
    halt: () => halting.abort(),
    renewals: () => renewals,
    fail: (why: string) => (problem = why),
  }
}

/** Long enough for what was resolved to come through. */
async function aMoment(): Promise<void> {
  await new Promise(setImmediate)
}

describe('one refusal', () => {
  test('keeps everything back, lets what is in flight drain, and only then probes', async () => {
    const { send, probed, probes, unblocked } = open(0)
    const [refused, slow] = [send(), send()]
    await refused.answer(stop(filtered))
    const later = send()
    await aMoment()
    expect([refused.sent, slow.sent, later.sent, probes.length]).toEqual([1, 1, 0, 0])
    await slow.answer(done)
    expect(await slow.verdict).toEqual(done)
    await probed()
    expect([refused.sent, later.sent]).toEqual([2, 1])
    await refused.answer(done)
    await later.answer(done)
    expect([await refused.verdict, await later.verdict]).toEqual([done, done])
    expect(unblocked).toEqual([['EGRESS_NOT_ALLOWED', 0]])
  })

  test('also keeps back what was let through and could not be sent yet', async () => {
    const { gate, send, probed, probes } = open(0)
    let makeRoom: (() => void) | undefined
    const room = new Promise<void>(resolve => (makeRoom = resolve))
    let sent = 0
    const late = gate.pass(async isHeld => {
      await room
      if (isHeld()) return { kind: 'notSent', because: 'noAccess' }
      sent += 1
      return done
    })
    const refused = send()
    await refused.answer(stop(filtered))
    makeRoom?.()
    await aMoment()
    expect([sent, probes.length]).toEqual([0, 1])
    await probed()
    expect([await late, sent]).toEqual([done, 1])
    await refused.answer(done)
  })

  test('that the probes confirm stops everybody by their name', async () => {
    const { send, probed, unblocked, told } = open(0)
    const refused = send()
    await refused.answer(stop(filtered))
    const later = send()
    await probed(mixed)
    expect([await refused.verdict, await later.verdict]).toEqual([stop(mixed), stop(mixed)])
    expect([refused.sent, later.sent, unblocked, told]).toEqual([1, 0, [], []])
    expect(await send().verdict).toEqual(stop(mixed))
  })

  test('of many in flight is met once, and each of them is sent once more', async () => {
    const { send, probed, probes } = open(0)
    const bodies = [send(), send(), send()]
    for (const body of bodies) await body.answer(stop(filtered))
    await probed()
    expect(bodies.map(({ sent }) => sent)).toEqual([2, 2, 2])
    for (const body of bodies) await body.answer(done)
    expect(probes).toEqual([])
  })

  test('that comes back right after the probes had passed stops the run', async () => {
    const { send, probed } = open(0)
    const body = send()
    await body.answer(stop(filtered))
    await probed()
    await body.answer(stop(filtered))
    await probed()
    expect(body.sent).toBe(2)
    expect(await body.verdict).toMatchObject({
      kind: 'stop',
      delivery: 'none',
      failure: { code: 'EGRESS_NOT_ALLOWED', evidence: { regained: 1 } },
    })
  })

  test('of another kind, or in doubt, is not its business', async () => {
    const { send, probes } = open(0)
    for (const verdict of [
      stop(clusterGone),
      stop(failure('PROXY_TLS_MISMATCH', { proxy: 'p', observed: 'x' }), 'possible'),
    ]) {
      const body = send()
      await body.answer(verdict)
      expect(await body.verdict).toBe(verdict)
    }
    expect(probes).toEqual([])
  })

  test('that passes by itself is the sender’s to send again, until it lasts too long', async () => {
    const { gate, send, probed } = open(0)
    const proxyGone = failure('PROXY_UNREACHABLE', { proxy: 'p', problem: 'refused' })
    const body = send()
    await body.answer(wait(proxyGone))
    expect(await body.verdict).toEqual(wait(proxyGone))
    expect(gate.lost(clusterGone)).toBe(false)
    expect(gate.lost(proxyGone)).toBe(true)
    const again = send()
    await aMoment()
    expect(again.sent).toBe(0)
    await probed(proxyGone)
    expect(await again.verdict).toEqual(stop(proxyGone))
  })
})

describe('a run that waits', () => {
  test('tells why, since when and for how long, and goes on when probes are let through', async () => {
    const { gate, clock, send, probed, told, unblocked, renewals } = open(60_000)
    clock.advance(500)
    const before = gate.now()
    const body = send()
    await body.answer(stop(filtered))
    await probed(bothRefused)
    const since = '2026-01-01T00:00:00.500Z'
    const first = { failure: bothRefused, since, waitedMs: 0, leftMs: 60_000, nextProbeMs: 5000 }
    expect(told).toEqual([first])
    clock.advance(4999)
    await aMoment()
    expect(clock.sleeping).toBe(1)
    clock.advance(1)
    await probed(bothRefused)
    const second = { failure: bothRefused, since, waitedMs: 5000, leftMs: 55_000, nextProbeMs: 10_000 }
    expect(told).toEqual([first, second])
    expect(body.sent).toBe(1)
    clock.advance(10_000)
    await probed(clusterGone)
    expect(told[2]).toMatchObject({ failure: bothRefused, problem: clusterGone.message })
    clock.advance(20_000)
    await probed()
    expect(body.sent).toBe(2)
    expect(unblocked).toEqual([['EGRESS_NOT_ALLOWED', 35_000]])
    // To those who give a body so much time, it has not passed.
    expect(gate.now()).toBe(before)
    clock.advance(7)
    expect(gate.now()).toBe(before + 7)
    await body.answer(done)
    expect(await body.verdict).toBe(done)
    expect(renewals()).toBe(0)
  })

  test('does not wait for half of a pair', async () => {
    const { send, probed, told } = open(60_000)
    const body = send()
    await body.answer(stop(filtered))
    await probed(mixed)
    expect(await body.verdict).toMatchObject({ kind: 'stop', failure: { code: 'EGRESS_PARTLY_ALLOWED' } })
    expect(told).toEqual([])
  })

  test('stops when its time is over, and says how long it waited', async () => {
    const { clock, send, probed } = open(3000)
    const body = send()
    await body.answer(stop(filtered))
    await probed(bothRefused)
    clock.advance(3000)
    await probed(bothRefused)
    expect(await body.verdict).toMatchObject({ failure: { code: 'EGRESS_NOT_ALLOWED', evidence: { waitedMs: 3000 } } })
    expect(body.sent).toBe(1)
  })

  test('asks for new credentials before each probe while they are refused, and only then', async () => {
    const { clock, send, probed, renewals, told, fail } = open(60_000)
    fail('no such file')
    const body = send()
    await body.answer(stop(proxyAuth))
    await probed(proxyAuth)
    expect([renewals(), told[0]?.problem]).toEqual([1, 'no such file'])
    clock.advance(5000)
    await probed(bothRefused)
    expect([renewals(), told[1]?.failure.code]).toEqual([2, 'EGRESS_NOT_ALLOWED'])
    clock.advance(10_000)
    await probed()
    expect([renewals(), body.sent]).toEqual([2, 2])
  })

  test('does not ask for new credentials where it does not wait', async () => {
    const { send, probed, renewals } = open(0)
    const body = send()
    await body.answer(stop(proxyAuth))
    await probed(proxyAuth)
    expect(await body.verdict).toEqual(stop(proxyAuth))
    expect(renewals()).toBe(0)
  })

  test('ends at once when nothing more may be sent, in a pause as in a probe', async () => {
    for (const isPause of [true, false]) {
      const { send, probed, probes, halt, unblocked } = open(60_000)
      const body = send()
      await body.answer(stop(filtered))
      if (isPause) await probed(bothRefused)
      else await until(() => probes.length > 0)
      const later = send()
      halt()
      const stopping = { kind: 'notSent', because: 'stopping' }
      expect([await body.verdict, await later.verdict]).toEqual([stopping, stopping])
      expect([body.sent, later.sent, unblocked]).toEqual([1, 0, []])
    }
  })
})

describe('an index that is blocked', () => {
  test('is tried with one body at a time, while the others are kept', async () => {
    const { clock, send, probes, told, unblocked } = open(60_000)
    const [first, second] = [send(), send()]
    await first.answer(stop(blocked))
    await second.answer(stop(blocked))
    expect(told).toMatchObject([{ failure: blocked, nextProbeMs: 5000 }])
    clock.advance(5000)
    await until(() => first.sent + second.sent === 3)
    const tried = first.sent === 2 ? first : second
    const other = tried === first ? second : first
    // Told as busy this time, as a full disk is: blocked all the same.
    await tried.answer(wait(blocked))
    expect(told).toHaveLength(2)
    expect([tried.sent, other.sent]).toEqual([2, 1])
    clock.advance(10_000)
    await until(() => first.sent + second.sent === 4)
    const last = other.sent === 2 ? other : tried
    await last.answer(done)
    expect(await last.verdict).toBe(done)
    await until(() => first.sent + second.sent === 5)
    await (last === first ? second : first).answer(done)
    expect(unblocked).toEqual([['INDEX_BLOCKED', 15_000]])
    expect(probes).toEqual([])
  })

  test('is not taken for open because something else is in the way', async () => {
    const { clock, send, told, unblocked } = open(60_000)
    const [body, other] = [send(), send()]
    await body.answer(stop(blocked))
    await other.answer(stop(blocked))
    clock.advance(5000)
    await until(() => body.sent + other.sent === 3)
    const tried = body.sent === 2 ? body : other
    await tried.answer(wait(clusterGone))
    expect(await tried.verdict).toEqual(wait(clusterGone))
    expect(told[1]).toMatchObject({ failure: blocked, problem: clusterGone.message })
    expect([body.sent + other.sent, unblocked]).toEqual([3, []])
  })

  test('for want of disk is waited for at once, and items of it are the sender’s to settle first', async () => {
    const { clock, send, told } = open(60_000)
    const busy: Verdict = { kind: 'retryItems', settled, items: [1], failure: blocked, delivery: 'none' }
    const [body, other] = [send(), send()]
    await body.answer(busy)
    expect(await body.verdict).toBe(busy)
    await other.answer(wait(blocked))
    expect(told).toMatchObject([{ failure: blocked, nextProbeMs: 5000 }])
    clock.advance(5000)
    await until(() => other.sent === 2)
    await other.answer(busy)
    expect(await other.verdict).toBe(busy)
    expect(told).toHaveLength(2)
    const impatient = open(0).send()
    await impatient.answer(wait(blocked))
    expect(await impatient.verdict).toEqual(wait(blocked))
  })

  test('stops the run at once where it does not wait', async () => {
    const { send, probes } = open(0)
    const body = send()
    await body.answer(stop(blocked))
    expect(await body.verdict).toEqual(stop(blocked))
    expect([body.sent, probes]).toEqual([1, []])
  })
})

test('a bug in a probe is thrown to those who wait', async () => {
  const broken = open(0)
  const gate = new AccessGate({
    waitMs: 0,
    clock: broken.clock,
    wallClock: () => 0,
    random: () => 1,
    halted: new AbortController().signal,
    probe: async () => await Promise.reject(new TypeError('a bug')),
    renew: async () => await Promise.resolve(undefined),
    onBlocked: () => undefined,
    onUnblocked: () => undefined,
  })
  await expect(gate.pass(async () => await Promise.resolve(stop(filtered)))).rejects.toThrow('a bug')
})
