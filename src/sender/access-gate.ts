/**
 * Where every bulk request passes. When one of them is refused access nothing more is sent: what is in flight drains, fresh
 * connections are probed, and as the circuit breaker decides all that waits here is sent, or none of it any more.
 */
import type { Failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import type { Clock } from '../flow.js'
import { accessLossIn, areCredentialsRefused, isAccessLoss } from './access-loss.js'
import { CircuitBreaker, type Step } from './circuit-breaker.js'
import type { Verdict } from './verdict.js'

/** Fresh connections that have to agree, however few the preflight asked for: something is known to be wrong. */
export const PROBES_OF_LOST_ACCESS = 16

/** The run waits for access that was lost. Times in milliseconds. */
export interface Blocked {
  readonly failure: Failure
  /** When access was lost, in ISO 8601. */
  readonly since: string
  /** How long it has been waited for, and for how long it will be at most. */
  readonly waitedMs: number
  readonly leftMs: number
  readonly nextProbeMs: number
  /** What else stood in the way of the last probe: credentials that could not be read again, a cluster that did not answer. */
  readonly problem?: string
}

export interface AccessOptions {
  /** How long to wait for access that was lost, in milliseconds; 0: not at all. */
  readonly waitMs: number
  /** Takes new credentials, where there are any. Resolves to why there are none, if something went wrong. */
  renew(): Promise<string | undefined>
  onBlocked(blocked: Blocked): void
  /** Access is back: what was in the way, and for how long. */
  onUnblocked(failure: Failure, waitedMs: number): void
}

interface Surroundings {
  /** Asks on fresh connections whether the way is open. Throws SluiceError where it is not. */
  probe(signal: AbortSignal): Promise<unknown>
  /** Aborted when nothing more may be sent. */
  readonly halted: AbortSignal
  readonly clock: Clock
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number
  readonly random: () => number
}

/**
 * Sends one body. Undefined: nothing may be sent any more. `held`: it was not sent, because `isShut()` by the time that it could
 * have been: access was lost since it was let through.
 */
type Send = (isShut: () => boolean) => Promise<Verdict | 'held' | undefined>

export class AccessGate {
  readonly #options: AccessOptions & Surroundings
  readonly #circuit: CircuitBreaker
  #inFlight = 0
  #drained: (() => void) | undefined
  /** While access is lost. */
  #isShut = false
  readonly #waiting: (() => void)[] = []
  /** Takes what becomes of the one request that is let through to try: why it was refused. */
  #trial: ((why: Failure | undefined) => void) | undefined
  #since = 0
  #problem: string | undefined
  #givenUp: Failure | undefined
  #bug: { readonly error: unknown } | undefined

  constructor(options: AccessOptions & Surroundings) {
    this.#options = options
    this.#circuit = new CircuitBreaker(options.waitMs, options.random)
    options.halted.addEventListener('abort', () => {
      this.#trial?.(undefined)
      this.#letAllGo()
    })
  }

  /** A clock that stands still while access is lost. */
  now(): number {
    const now = this.#options.clock.now()
    return now - this.#circuit.openMs(now)
  }

  /**
   * Sends as soon as that may be, and once more for each time that access was lost by it and is back. Undefined: nothing may
   * be sent any more, which `send` may say as well.
   */
  async pass(send: Send): Promise<Verdict | undefined> {
    for (;;) {
      if (this.#mustWait) {
        await new Promise<void>(resolve => this.#waiting.push(resolve))
        continue
      }
      if (this.#bug !== undefined) throw this.#bug.error
      if (this.#options.halted.aborted) return undefined
      if (this.#givenUp !== undefined) return { kind: 'stop', failure: this.#givenUp, delivery: 'none' }
      const verdict = await this.#sent(send)
      if (verdict !== 'refused') return verdict
    }
  }

  /** A body was refused for as long as it may be. True: it was for want of access, and may pass the gate again. */
  lost(failure: Failure): boolean {
    if (!isAccessLoss(failure)) return false
    this.#lose(failure)
    return true
  }

  get #mustWait(): boolean {
    return this.#isShut && this.#trial === undefined && !this.#options.halted.aborted && this.#bug === undefined
  }

  /** `refused`: for want of access, and nothing else is sent from then on. */
  async #sent(send: Send): Promise<Verdict | 'refused' | undefined> {
    const trial = this.#trial
    this.#trial = undefined
    this.#inFlight += 1
    try {
      const verdict = await send(() => this.#isShut && trial === undefined)
      if (verdict === 'held') return 'refused'
      trial?.(verdict === undefined ? undefined : refusalIn(verdict))
      if (verdict === undefined) return undefined
      if (verdict.kind === 'done') this.#circuit.accepted()
      return this.#isRefused(verdict) ? 'refused' : verdict
    } finally {
      this.#inFlight -= 1
      if (this.#inFlight === 0) this.#drained?.()
    }
  }

  /**
   * What passes by itself is the sender's to send again, until it lasts too long. So is an index that is blocked for want of
   * disk, unless somebody waits for it: then one body at a time finds out as well as all of them.
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

  async #recover(first: Step): Promise<void> {
    const { clock, halted, onUnblocked } = this.#options
    if (this.#inFlight > 0) await new Promise<void>(resolve => (this.#drained = resolve))
    let step = first
    while (step.kind === 'probe') {
      if (step.afterMs > 0) {
        this.#tell(step.afterMs)
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

  async #probe(): Promise<Step> {
    const { clock, waitMs, renew, probe, halted } = this.#options
    const { why } = this.#circuit
    const isBlock = why?.code === 'INDEX_BLOCKED'
    this.#problem = waitMs > 0 && why !== undefined && areCredentialsRefused(why) ? await renew() : undefined
    const seen = isBlock ? await this.#tryOne() : await failureOf(probe(halted), halted)
    if (seen === undefined) return this.#circuit.passed(clock.now())
    if (!isAccessLoss(seen)) this.#problem ??= seen.message
    return this.#circuit.failed(seen, clock.now())
  }

  /** Lets one of those who wait send what it has. Resolves to why it was not taken, if so. */
  async #tryOne(): Promise<Failure | undefined> {
    return await new Promise(resolve => {
      this.#trial = resolve
      this.#waiting.shift()?.()
    })
  }

  #tell(nextProbeMs: number): void {
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

/** Why nothing of a body was taken. */
function refusalIn(verdict: Verdict): Failure | undefined {
  return verdict.kind === 'wait' || verdict.kind === 'stop' ? verdict.failure : accessLossIn(verdict)
}

/** What a probe threw. What is no finding of its own is a bug, unless the run ended meanwhile. */
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
