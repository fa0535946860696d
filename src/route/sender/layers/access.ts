/**
 * The layer that keeps every request back while access is lost. If a request is refused access, Sluice stops sending, waits for
 * the answers of requests under way, and probes on fresh connections. Then all that waits here is sent, or the run stops.
 */
import { type Failure, isSluiceError } from '../../../base/failure/failure.js'
import type { Clock } from '../../../base/flow.js'
import { CircuitBreaker, type CircuitStep, accessLossIn, isAccessLoss } from '../circuit-breaker.js'
import { type Send, type Verdict, STOPPING } from '../send.js'

/** Fewest fresh connections that have to agree: something is known to be wrong. */
export const PROBES_OF_LOST_ACCESS = 16

/** Reports that the run waits for access. Times in milliseconds. */
export interface Blocked {
  readonly failure: Failure
  /** When access was lost, in ISO 8601. */
  readonly since: string
  /** How long the run has waited, and how long it will wait at most. */
  readonly waitedMs: number
  readonly leftMs: number
  readonly nextProbeMs: number
  /** Another failure of the last probe: credentials could not be read again, or the cluster did not answer. */
  readonly problem?: string
}

export interface AccessOptions {
  /** How long to wait for access, in milliseconds. 0: not at all. */
  readonly waitMs: number
  /** Takes new credentials, if there are any. Resolves to a problem, if something went wrong. */
  renew(): Promise<string | undefined>
  onBlocked(blocked: Blocked): void
  /** Reports that access is back: what was in the way, and for how long. */
  onUnblocked(failure: Failure, waitedMs: number): void
}

interface GateOptions extends AccessOptions {
  /** Checks access on fresh connections. Throws SluiceError if there is none. */
  probe(signal: AbortSignal): Promise<unknown>
  /** Aborted when nothing more may be sent. */
  readonly halted: AbortSignal
  readonly clock: Clock
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number
  readonly random: () => number
}

/** Tries to send one body. `isHeld`: whether access was lost since the body passed the gate. Then it must not be sent. */
type Attempt = (isHeld: () => boolean) => Promise<Verdict>

export function access(gate: AccessGate, onAgain: () => void, inner: Send): Send {
  return async request => {
    let isAgain = false
    return await gate.pass(async isHeld => {
      const verdict = await inner({ ...request, isHeld })
      if (verdict.kind === 'notSent') return verdict
      if (isAgain) onAgain()
      isAgain = true
      return verdict
    })
  }
}

export class AccessGate {
  readonly #options: GateOptions
  readonly #circuit: CircuitBreaker
  #inFlight = 0
  #drained: (() => void) | undefined
  /** While access is lost. */
  #isShut = false
  readonly #waiting: (() => void)[] = []
  /** Takes the failure of the one request that may try while the gate is shut; undefined if it succeeded. */
  #trial: ((why: Failure | undefined) => void) | undefined
  #since = 0
  #problem: string | undefined
  #givenUp: Failure | undefined
  #bug: { readonly error: unknown } | undefined

  constructor(options: GateOptions) {
    this.#options = options
    this.#circuit = new CircuitBreaker(options.waitMs, options.random)
    options.halted.addEventListener('abort', () => {
      this.#trial?.(undefined)
      this.#letAllGo()
    })
  }

  /** Returns the time of a clock that stands still while access is lost. */
  now(): number {
    const now = this.#options.clock.now()
    return now - this.#circuit.openMs(now)
  }

  /** Tries once access is there, and again each time that this attempt lost access and access is back. */
  async pass(attempt: Attempt): Promise<Verdict> {
    for (;;) {
      if (this.#mustWait) {
        await new Promise<void>(resolve => this.#waiting.push(resolve))
        continue
      }
      if (this.#bug !== undefined) throw this.#bug.error
      if (this.#options.halted.aborted) return STOPPING
      if (this.#givenUp !== undefined) return { kind: 'stop', failure: this.#givenUp, delivery: 'none' }
      const verdict = await this.#tried(attempt)
      if (verdict !== 'refused') return verdict
    }
  }

  /** Takes the failure of a body whose time for retries is over. True: access was lost, and the body may pass the gate again. */
  lost(failure: Failure): boolean {
    if (!isAccessLoss(failure)) return false
    this.#lose(failure)
    return true
  }

  get #mustWait(): boolean {
    return this.#isShut && this.#trial === undefined && !this.#options.halted.aborted && this.#bug === undefined
  }

  /** `refused`: access is lost, and the body has to pass the gate again. */
  async #tried(attempt: Attempt): Promise<Verdict | 'refused'> {
    const trial = this.#trial
    this.#trial = undefined
    this.#inFlight += 1
    try {
      const verdict = await attempt(() => this.#isShut && trial === undefined)
      if (verdict.kind === 'notSent' && verdict.because === 'noAccess') return 'refused'
      trial?.(refusalIn(verdict))
      if (verdict.kind === 'done') this.#circuit.accepted()
      return this.#isRefused(verdict) ? 'refused' : verdict
    } finally {
      this.#inFlight -= 1
      if (this.#inFlight === 0) this.#drained?.()
    }
  }

  /**
   * The sender retries what may pass by itself, until that lasts too long. The same holds for an index that is blocked because
   * its disk is full, unless the run waits for access: then one body at a time finds out as well as all of them.
   */
  #isRefused(verdict: Verdict): boolean {
    const loss = accessLossIn(verdict)
    if (loss === undefined) return false
    const isWaitedFor = loss.code === 'INDEX_BLOCKED' && this.#options.waitMs > 0
    if (verdict.kind === 'stop' || isWaitedFor) this.#lose(loss)
    return this.#isShut && verdict.kind !== 'retryItems'
  }

  #lose(why: Failure): void {
    if (this.#isShut || this.#givenUp !== undefined) return
    const { clock, wallClock } = this.#options
    this.#isShut = true
    this.#since = wallClock()
    this.#problem = undefined
    void this.#recover(this.#circuit.trip(why, clock.now())).catch((error: unknown) => {
      this.#bug = { error }
      this.#letAllGo()
    })
  }

  async #recover(first: CircuitStep): Promise<void> {
    const { clock, halted, onUnblocked } = this.#options
    if (this.#inFlight > 0) await new Promise<void>(resolve => (this.#drained = resolve))
    let step = first
    while (step.kind === 'probe') {
      if (step.afterMs > 0) {
        this.#report(step.afterMs)
        await clock.sleep(step.afterMs, halted).catch(() => undefined)
      }
      if (halted.aborted) return
      step = await this.#probe()
      if (halted.aborted) return
    }
    const { why } = this.#circuit
    if (step.kind === 'stop') this.#givenUp = step.failure
    else if (why !== undefined) onUnblocked(why, this.#circuit.waitedMs(clock.now()))
    this.#isShut = false
    this.#letAllGo()
  }

  async #probe(): Promise<CircuitStep> {
    const { clock, waitMs, renew, probe, halted } = this.#options
    const { why } = this.#circuit
    const areCredentialsRefused = why?.code === 'PROXY_AUTH_REJECTED' || why?.code === 'CLUSTER_AUTH_REJECTED'
    this.#problem = waitMs > 0 && areCredentialsRefused ? await renew() : undefined
    const seen = why?.code === 'INDEX_BLOCKED' ? await this.#tryOne() : await failureOf(probe(halted), halted)
    if (seen === undefined) return this.#circuit.passed(clock.now())
    if (!isAccessLoss(seen)) this.#problem ??= seen.message
    return this.#circuit.failed(seen, clock.now())
  }

  /** Lets one of the waiting bodies be sent. Resolves to its failure, if it was refused. */
  async #tryOne(): Promise<Failure | undefined> {
    return await new Promise(resolve => {
      this.#trial = resolve
      this.#waiting.shift()?.()
    })
  }

  #report(nextProbeMs: number): void {
    const { clock, waitMs, onBlocked } = this.#options
    const { why } = this.#circuit
    if (why === undefined) return
    const waitedMs = Math.round(this.#circuit.waitedMs(clock.now()))
    onBlocked({
      failure: why,
      since: new Date(this.#since).toISOString(),
      waitedMs,
      leftMs: Math.max(0, waitMs - waitedMs),
      nextProbeMs,
      ...(this.#problem === undefined ? {} : { problem: this.#problem }),
    })
  }

  #letAllGo(): void {
    for (const go of this.#waiting.splice(0)) go()
  }
}

/** Returns why nothing of a body was accepted. */
function refusalIn(verdict: Verdict): Failure | undefined {
  return verdict.kind === 'wait' || verdict.kind === 'stop' ? verdict.failure : accessLossIn(verdict)
}

/** Returns the failure that a probe threw. Any other error is a bug, unless the run ended meanwhile. */
async function failureOf(probing: Promise<unknown>, halted: AbortSignal): Promise<Failure | undefined> {
  try {
    await probing
    return undefined
  } catch (error) {
    if (isSluiceError(error)) return error.failure
    if (halted.aborted) return undefined
    throw error
  }
}
