/** The one shape of the sender's layers: a bulk request goes down through them, and its verdict comes back up. */
import type { Batch } from '../flow.js'
import type { Body } from './body.js'
import type { JudgedBody } from './judge-items.js'
import type { Verdict } from './verdict.js'

export type Send = (request: BulkRequest) => Promise<Verdict>

export interface BulkRequest {
  readonly body: Body
  readonly batch: Batch
  readonly history: SendHistory
  /** The body as it goes over the wire, if it is compressed. */
  readonly compressed?: Buffer
  /** Set by the access layer: whether access was lost since the request passed the gate. */
  readonly isHeld?: () => boolean
  /** Set by the budget layer: takes the length of the answer, before anything is asked because of it. */
  readonly answered?: (bytes: number) => void
}

/** Whether the documents were sent before, and whether one of those sends may have been stored unanswered. */
type SendHistory = Pick<JudgedBody, 'resent' | 'doubtful'>

/** Whose the ids are; see `JudgedBody`. */
export type BatchIds = Pick<JudgedBody, 'ownIds' | 'safeToResend'>

/** Returns whose ids a batch has. Another run made those of dead letters. */
export function batchIds({ addressed }: Pick<Batch, 'addressed'>, { ownIds, safeToResend }: BatchIds): BatchIds {
  if (addressed === undefined) return { ownIds, safeToResend }
  return { ownIds: addressed.ids === 'own', safeToResend: addressed.ids !== 'none' }
}
