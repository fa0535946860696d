import { describe, expect, test } from 'vitest'
import { failure } from '../../../../src/base/failure/failure.js'
import { CircuitBreaker, type CircuitStep } from '../../../../src/route/sender/circuit-breaker.js'

const cluster = 'https://cluster.example'
const filtered = failure('EGRESS_NOT_ALLOWED', { cluster, refused: 1, probes: 1, observed: 'Forbidden' })
const bothRefused = failure('EGRESS_NOT_ALLOWED', { cluster, refused: 16, probes: 16, observed: 'Forbidden' })
const mixed = failure('EGRESS_PARTLY_ALLOWED', { how: 'refused', cluster, refused: 3, probes: 6 })
const proxyGone = failure('PROXY_UNREACHABLE', { proxy: 'p', problem: 'refused' })
const proxyAuth = failure('PROXY_AUTH_REJECTED', { proxy: 'p', observed: 'status 407' })
const clusterGone = failure('CLUSTER_UNAVAILABLE', { cluster, observed: 'status 503' })
const blocked = failure('INDEX_BLOCKED', { index: 'logs', reason: 'flood stage' })

const minutes = 60_000
const atOnce: CircuitStep = { kind: 'probe', afterMs: 0 }
const patient = () => new CircuitBreaker(30 * minutes, () => 1)
const impatient = () => new CircuitBreaker(0, () => 1)

function stopped(step: CircuitStep) {
  if (step.kind !== 'stop') throw new Error(`it does not stop: ${step.kind}`)
  return step.failure
}

function accept(circuit: CircuitBreaker, bodies: number): void {
  for (let body = 0; body < bodies; body += 1) circuit.accepted()
}

describe('without patience', () => {
  test('a refusal is looked at once, and stops the run by the name that the probes give it', () => {
    for (const seen of [bothRefused, mixed, proxyAuth]) {
      const circuit = impatient()
      expect(circuit.trip(filtered, 0)).toEqual(atOnce)
      expect(stopped(circuit.failed(seen, 80))).toEqual(seen)
    }
  })

  test('a fault that passes by itself, or is no loss of access, gives no refusal another name', () => {
    for (const seen of [proxyGone, clusterGone]) {
      const circuit = impatient()
      circuit.trip(filtered, 0)
      expect(stopped(circuit.failed(seen, 80))).toEqual(filtered)
    }
    const circuit = impatient()
    circuit.trip(proxyGone, 0)
    expect(stopped(circuit.failed(filtered, 80))).toEqual(filtered)
  })

  test('a refusal that passes is survived once, and the second says that access comes and goes', () => {
    const circuit = impatient()
    circuit.trip(filtered, 0)
    expect(circuit.passed(80)).toEqual({ kind: 'close' })
    accept(circuit, 49)
    expect(circuit.trip(filtered, 1000)).toEqual(atOnce)
    const why = stopped(circuit.passed(1080))
    expect(why).toMatchObject({ code: 'EGRESS_NOT_ALLOWED', evidence: { regained: 1 } })
    expect(why.message).toMatch(/: Forbidden\. Access came back once$/)
    expect(why.evidence).not.toHaveProperty('waitedMs')
  })

  test('after fifty bodies that were taken, another refusal is another outage', () => {
    const circuit = impatient()
    for (let outage = 0; outage < 3; outage += 1) {
      expect(circuit.trip(filtered, outage * 1000)).toEqual(atOnce)
      expect(circuit.passed(outage * 1000 + 80)).toEqual({ kind: 'close' })
      accept(circuit, 50)
    }
    expect(circuit.openMs(9999)).toBe(240)
  })

  test('an index that says it is blocked is believed', () => {
    expect(stopped(impatient().trip(blocked, 0))).toEqual(blocked)
  })
})

describe('with patience', () => {
  test('probes go ever more slowly, up to one round a minute, and the last one is at the very end', () => {
    const circuit = patient()
    let now = 0
    const pauses: number[] = []
    let step = circuit.trip(filtered, now)
    while (step.kind === 'probe') {
      pauses.push(step.afterMs)
      now += step.afterMs
      step = circuit.failed(bothRefused, now)
    }
    expect(pauses.slice(0, 7)).toEqual([0, 5000, 10_000, 20_000, 40_000, 60_000, 60_000])
    expect(new Set(pauses.slice(5, -1))).toEqual(new Set([60_000]))
    expect(now).toBe(30 * minutes)
    expect(stopped(step)).toMatchObject({
      code: 'EGRESS_NOT_ALLOWED',
      message: `${bothRefused.message}. Sluice waited 1800 s for access`,
      evidence: { refused: 16, waitedMs: 30 * minutes },
    })
  })

  test('a pause is up to a fifth shorter, by chance', () => {
    const circuit = new CircuitBreaker(30 * minutes, () => 0)
    circuit.trip(filtered, 0)
    expect(circuit.failed(bothRefused, 0)).toEqual({ kind: 'probe', afterMs: 4000 })
  })

  test('the last refusal gives the name: a pair that is half registered by then', () => {
    const circuit = new CircuitBreaker(1000, () => 1)
    circuit.trip(filtered, 0)
    expect(circuit.failed(bothRefused, 0)).toEqual({ kind: 'probe', afterMs: 1000 })
    expect(circuit.why).toEqual(bothRefused)
    expect(stopped(circuit.failed(mixed, 1000))).toMatchObject({ code: 'EGRESS_PARTLY_ALLOWED' })
  })

  test('access that comes and goes is waited for at once, and for no longer in all', () => {
    const circuit = new CircuitBreaker(12_000, () => 1)
    expect(circuit.trip(filtered, 0)).toEqual(atOnce)
    expect(circuit.passed(100)).toEqual({ kind: 'close' })
    // Sending is no waiting.
    expect(circuit.trip(filtered, 500_000)).toEqual({ kind: 'probe', afterMs: 5000 })
    expect(circuit.passed(505_000)).toEqual({ kind: 'close' })
    expect(circuit.trip(filtered, 900_000)).toEqual({ kind: 'probe', afterMs: 6900 })
    expect(circuit.passed(906_900)).toEqual({ kind: 'close' })
    const why = stopped(circuit.trip(filtered, 906_900))
    expect(why.evidence).toMatchObject({ regained: 3, waitedMs: 12_000 })
    expect(why.message).toContain('Access came back 3 times. Sluice waited 12 s for access')
    expect(circuit.openMs(906_900)).toBe(12_000)
  })

  test('an outage after a steady while has all the time again', () => {
    const circuit = new CircuitBreaker(12_000, () => 1)
    circuit.trip(filtered, 0)
    circuit.failed(bothRefused, 0)
    circuit.passed(5000)
    accept(circuit, 50)
    expect(circuit.trip(filtered, 20_000)).toEqual(atOnce)
    expect(circuit.failed(bothRefused, 20_000)).toEqual({ kind: 'probe', afterMs: 5000 })
    expect(circuit.waitedMs(21_000)).toBe(1000)
    expect(circuit.openMs(21_000)).toBe(6000)
  })

  test('an index that says it is blocked is not asked again at once', () => {
    expect(patient().trip(blocked, 0)).toEqual({ kind: 'probe', afterMs: 5000 })
  })
})
