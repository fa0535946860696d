/** What is known of documents that may have been sent before: by this process, by an earlier one, by the run whose dead letters they are. */
import type { Batch } from '../flow.js'
import type { Body } from './body.js'
import { idsOf } from './bulk-requests.js'
import type { JudgedBody } from './judge-items.js'
import type { StreamWatch } from './stream-watch.js'
import type { Verdict } from './verdict.js'

/** Whether documents have been sent before, and whether one of those sends may have been stored unanswered. */
export type SendHistory = Pick<JudgedBody, 'resent' | 'doubtful'>

export interface EarlierSendsOptions extends Pick<JudgedBody, 'ownIds' | 'safeToResend'> {
  /** Whether an earlier process may have sent the same documents under the same ids: a resume, a named run. */
  readonly sentBefore: boolean
}

export class EarlierSends {
  readonly #options: EarlierSendsOptions
  readonly #stream: StreamWatch

  constructor(options: EarlierSendsOptions, stream: StreamWatch) {
    this.#options = options
    this.#stream = stream
  }

  /**
   * What may be stored already is not sent where its id would not keep it from being stored twice. `history`: of this process.
   * Undefined: send it.
   */
  async lookUp(body: Body, { doubtful }: SendHistory, batch: Batch): Promise<Verdict | undefined> {
    const { sentBefore } = this.#options
    const { operation, replayed } = batch
    const { ownIds, safeToResend } = idsOf(batch, this.#options)
    // Its last send was refused, but an earlier one, or an earlier replay of the same file, may have stored a dead letter. Under
    // an id that is not Sluice's own, what is found would not be known to be it.
    const isOfAnyAge = replayed !== undefined && ownIds
    // To overwrite what has an id of the user's is what they asked for.
    const isOnce = operation === 'create' || ownIds
    if (!safeToResend || !isOnce || !(doubtful || sentBefore || isOfAnyAge)) return undefined
    const stream = replayed === undefined ? this.#stream : this.#stream.of(replayed.destination.index, isOfAnyAge)
    return await stream.look(body, doubtful, ownIds)
  }

  /**
   * The history with what came before this process. The last send of a dead letter was answered: it is in doubt, to whoever gave
   * it its id, only where a resend got no answer.
   */
  withBefore({ resent, doubtful }: SendHistory, { replayed }: Batch): SendHistory {
    const { sentBefore } = this.#options
    return { resent: resent || sentBefore || replayed !== undefined, doubtful: doubtful || sentBefore }
  }
}
