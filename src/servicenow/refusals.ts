import type { Failure } from '../failure/failure.js'
import { SluiceError, isSluiceError } from '../failure/sluice-error.js'
import { type Means, tellApart } from './tell-apart.js'

/** Many calls may be refused at once, and for one reason: it is looked for once. */
export class Refusals {
  /** A call has succeeded: asking again with the same credentials locks nobody out. */
  areKnown = false
  #telling: Promise<Failure> | undefined

  constructor(private readonly means: Means) {}

  /** What to throw for that which a call ended with. */
  async reasonFor(thrown: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    if (!isSluiceError(thrown) || signal?.aborted === true) return thrown
    this.#telling ??= this.#tell(thrown.failure)
    const told = await this.#telling
    return told.message === thrown.message ? thrown : new SluiceError(told, { cause: thrown })
  }

  async #tell(refused: Failure): Promise<Failure> {
    try {
      return await tellApart(this.means, refused, { areKnown: this.areKnown })
    } finally {
      this.#telling = undefined
    }
  }
}
