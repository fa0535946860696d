import type { Failure } from '../failure/failure.js'
import { SluiceError } from '../failure/sluice-error.js'
import { type Means, tellApart } from './tell-apart.js'
import { unlessAborted } from './unless-aborted.js'

/** Many calls may be refused at once, and for one reason: it is looked for once. */
export class Refusals {
  /** A call has succeeded: asking again with the same credentials locks nobody out. */
  areKnown = false
  #telling: Promise<Failure | undefined> | undefined

  /** `closing` ends the looking: nobody waits for it any more. */
  constructor(
    private readonly means: Means,
    private readonly closing: AbortSignal,
  ) {}

  /** What to throw for that which a call ended with; undefined where the refusal has passed. */
  async reasonFor(thrown: SluiceError, signal: AbortSignal | undefined): Promise<SluiceError | undefined> {
    if (signal?.aborted === true) return thrown
    this.#telling ??= this.#tell(thrown.failure)
    const told = await unlessAborted(this.#telling, signal)
    if (told === undefined) return undefined
    return told.message === thrown.message ? thrown : new SluiceError(told, { cause: thrown })
  }

  async #tell(refused: Failure): Promise<Failure | undefined> {
    try {
      return await tellApart(this.means, refused, { areKnown: this.areKnown, signal: this.closing })
    } finally {
      this.#telling = undefined
    }
  }
}
