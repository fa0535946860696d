import type { Failure } from '../../failure/failure.js'
import { SluiceError } from '../../failure/sluice-error.js'
import { type Means, tellApart } from './tell-apart.js'
import { unlessAborted } from '../calls/persist.js'

/** Many calls may be refused at once for one reason. This class looks for it once. */
export class Refusals {
  /** A call has succeeded: asking again with the same credentials locks nobody out. */
  areKnown = false
  readonly #telling = new Map<Failure['code'], Promise<Failure | undefined>>()

  /** `closing` ends the looking: nobody waits for it any more. */
  constructor(
    private readonly means: Means,
    private readonly closing: AbortSignal,
  ) {}

  /** Returns the error to throw instead. Undefined if the refusal has passed. */
  async reasonFor(thrown: SluiceError, signal: AbortSignal | undefined): Promise<SluiceError | undefined> {
    if (signal?.aborted === true) return thrown
    const { code } = thrown
    const telling = this.#telling.get(code) ?? this.#tell(thrown.failure)
    if (isRefusal(code)) this.#telling.set(code, telling)
    const told = await unlessAborted(telling, signal)
    if (told === undefined) return undefined
    return told.message === thrown.message ? thrown : new SluiceError(told, { cause: thrown })
  }

  async #tell(refused: Failure): Promise<Failure | undefined> {
    try {
      return await tellApart(this.means, refused, { areKnown: this.areKnown, signal: this.closing })
    } finally {
      this.#telling.delete(refused.code)
    }
  }
}

/** A refusal of the caller concerns all calls. Other errors concern one request. */
function isRefusal(code: Failure['code']): boolean {
  return ['SERVICENOW_ADDRESS_REFUSED', 'SERVICENOW_AUTH_REJECTED', 'SERVICENOW_TOKEN_REFUSED'].includes(code)
}
