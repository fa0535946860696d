import { explain, type Failure, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import type { Clock } from '../../base/flow.js'
import type { AccessGate } from '../../route/sender/layers/access.js'
import { backoffMs, Retries } from '../../base/time/retry.js'
import type { Verdict } from '../../route/sender/send.js'
import type { StopSignals } from './stop-signals.js'

export interface StepRetrying {
  /** How long one step may fail for a reason that may pass. */
  readonly maxElapsedMs: number
  /** Holds a step while access is lost. */
  readonly gate: AccessGate
  readonly clock: Pick<Clock, 'sleep'>
  readonly random: () => number
  readonly stop: Pick<StopSignals, 'signal' | 'why'>
  /** Documents of the run that have their outcome, for the message of an interruption. */
  readonly settled: number
  onRetry(failure: Failure, waitMs: number): void
}

/**
 * Retries a step while its failure may pass, and once more when lost access is back. The step must be safe to repeat.
 * Throws SluiceError: what the step throws, the failure that lasted too long, or why the run ended.
 */
export async function retryStep<T>(patience: StepRetrying, step: () => Promise<T>): Promise<T> {
  const { maxElapsedMs, gate, clock, random, stop, settled, onRetry } = patience
  const { signal } = stop
  const retries = new Retries({ clock: gate, maxElapsedMs, waitMs: refusals => backoffMs(refusals, random) })
  for (;;) {
    const tried = await attempt(gate, step)
    if (tried.taken !== undefined) return tried.taken.value
    if (tried.verdict === undefined) throw new SluiceError(stop.why(settled))
    const { kind, failure } = tried.verdict
    if (kind === 'stop') throw errorOf(failure, tried)
    if (signal.aborted) throw new SluiceError(stop.why(settled))
    const waitMs = retries.next()
    if (waitMs === undefined) {
      if (!gate.lost(failure)) throw errorOf(failure, tried)
      retries.startAgain()
      continue
    }
    onRetry(failure, waitMs)
    await clock.sleep(waitMs, signal).catch(() => undefined)
  }
}

interface Tried<T> {
  taken?: { readonly value: T }
  /** Why the step failed. Undefined: nothing more may be sent. */
  verdict?: Extract<Verdict, { kind: 'wait' | 'stop' }> | undefined
  thrown?: SluiceError
}

const done: Verdict = {
  kind: 'done',
  settled: { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, refused: [] },
}

/** Passes the gate. The gate knows verdicts, but no errors. */
async function attempt<T>(gate: AccessGate, step: () => Promise<T>): Promise<Tried<T>> {
  const tried: Tried<T> = {}
  const verdict = await gate.pass(async () => {
    try {
      tried.taken = { value: await step() }
      return done
    } catch (error) {
      if (!isSluiceError(error)) throw error
      tried.thrown = error
      const { failure } = error
      const kind = explain(failure.code).retry === 'later' ? 'wait' : 'stop'
      // A step is safe to repeat, whatever it has done already.
      return { kind, failure, delivery: 'none' }
    }
  })
  if (verdict.kind === 'wait' || verdict.kind === 'stop') tried.verdict = verdict
  return tried
}

/** The gate may have found a more precise cause. */
function errorOf<T>(failure: Failure, { thrown }: Tried<T>): SluiceError {
  return thrown?.failure === failure ? thrown : new SluiceError(failure, { cause: thrown })
}
