/** Turns an answer, or an error, into a verdict. Pure, so that tests of every rule need no server. */
import {
  type Answered,
  type ClusterAnswer,
  nameLaterRefusal,
  type RouteFacts,
  whoAnswered,
} from '../cluster/answers.js'
import { type BulkItem, type BulkItems, isWithoutErrors, itemsIn, sameResult } from '../cluster/bulk-items.js'
import { lostAnswer, routeErrorOf } from '../cluster/client-connection.js'
import { explain, type Failure, failure, quote } from '../../base/failure/failure.js'
import {
  acceptedAs,
  type BatchOperation,
  type ConditionKind,
  isOperation,
  type OperationRow,
  rowOf,
} from '../../base/operation.js'
import { retryAfterMs } from '../../base/time/retry.js'
import type { Delivery, JudgedBody, RefusedItem, RefusedItems, Settled, Verdict } from './send.js'

/** Returns the fields of an answer that Sluice needs. A status for each item keeps positions. */
export function filterPathFor(operation: BatchOperation, isScripted = false, comparesConflicts = false): string {
  if (comparesConflicts) return `${filterPathFor(operation, isScripted)},items.*.error.index`
  // The status of an update does not show whether it changed anything, and that of an index action not whether a pipeline dropped it.
  const path = asksResult(operation) ? `${filterPath},items.*.result` : filterPath
  // What a script says of its failure is a cause of the error.
  return isScripted ? `${path},${causes}` : path
}

function asksResult(operation: BatchOperation): boolean {
  return Object.keys(rowOf(operation).results).length > 1
}

const causes = 'items.*.error.caused_by.reason,items.*.error.caused_by.caused_by.reason'

const filterPath = 'errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.failure_store'

export interface Judging {
  readonly body: JudgedBody
  /** The cluster's URL without credentials, and the route to it. */
  readonly cluster: string
  readonly route: RouteFacts
  /** Milliseconds since the epoch, for a Retry-After that is a date. */
  readonly now: number
}

export function judgeAnswer(answer: ClusterAnswer, judging: Judging): Verdict {
  const { statusCode: status } = answer
  if (status === 200) return judgeItems(answer, judging.body, judging.cluster)
  const answered = whoAnswered(answer, judging.route)
  const named = nameLaterRefusal(answer, answered, judging.cluster)
  const type = answered.by === 'elasticsearch' ? (answered.type ?? 'error') : named.code
  const refusal = { status, type, reason: 'reason' in answered ? (answered.reason ?? named.message) : named.message }

  if (status === 413) return { kind: 'split', refusal, delivery: 'none' }
  if (mayPass(status, answered.by, named)) {
    const after = retryAfterMs(answer.headers, judging.now)
    const delivery = deliveryOf(status, answered.by)
    return { kind: 'wait', failure: named, delivery, ...(after === undefined ? {} : { retryAfterMs: after }) }
  }
  if (answered.by === 'elasticsearch' && (status === 400 || status === 500)) {
    const alike = failure('REQUEST_REFUSED', { cluster: judging.cluster, status, reason: refusal.reason, type })
    return { kind: 'split', refusal, alike, delivery: 'possible' }
  }
  const delivery = status >= 500 || status < 400 ? 'possible' : 'none'
  const isOdd = (answered.by === 'unknown' || answered.by === 'edge') && named.code !== 'CLUSTER_AUTH_REJECTED'
  return isOdd
    ? { kind: 'wait', failure: named, delivery, tries: TRIES_OF_ODD }
    : { kind: 'stop', failure: named, delivery }
}

/** Something between Sluice and the cluster refuses a request, after it let others pass. */
const TRIES_OF_ODD = 5

/** Returns whether the same request may succeed later without any change. */
function mayPass(status: number, by: Answered['by'], named: Failure): boolean {
  if (by === 'filter') return false
  if (by === 'proxy') return explain(named.code).retry === 'later'
  if (by === 'unknown' && explain(named.code).retry === 'later') return true
  return status === 429 || status === 502 || status === 503 || status === 504
}

/** Returns whether the request may have gone through: a gateway's 502, 503 or 504 may hide that. */
function deliveryOf(status: number, by: Answered['by']): Delivery {
  if (status === 429) return 'none'
  if (status === 503 && (by === 'elasticsearch' || by === 'edge')) return 'none'
  return 'possible'
}

/** Judges a request that got no answer. Throws any error again that is not one of the route: a bug. */
export function judgeError(error: unknown, cluster: string): Verdict {
  // Aborted before the client used the route.
  if (error instanceof Error && error.name === 'RequestAbortedError' && routeErrorOf(error) === undefined) {
    return { kind: 'wait', failure: failure('RUN_INTERRUPTED', { reason: 'aborted', settled: 0 }), delivery: 'none' }
  }
  const { mayPass, ...lost } = lostAnswer(error, cluster)
  if (lost.failure.code === 'CLUSTER_ANSWER_TOO_LONG') return { kind: 'wait', ...lost, tries: TRIES_OF_TOO_LONG }
  return { kind: mayPass ? 'wait' : 'stop', ...lost }
}

/** One more than the refusals after which Sluice halves a body: half of it may have an answer that is short enough. */
const TRIES_OF_TOO_LONG = 6

/** Judges the items of a 200. */
function judgeItems(answer: ClusterAnswer, body: JudgedBody, cluster: string): Verdict {
  const { changes, results: accepted } = rowOf(body.operation)
  const plain = changes ? undefined : allStored(answer.body, body.items)
  if (plain !== undefined) {
    // Our own ids are new: after an earlier send, a document that was there already is that one. Else a pipeline gave it the id of another.
    const { created, updated } = plain
    return { kind: 'done', settled: { ...nothing, created, [again(accepted.otherwise, body)]: updated } }
  }
  const results = itemsIn(answer.body)
  const judged = results?.length === body.items ? judgeEach(results, body) : undefined
  if (results === undefined || judged === undefined) {
    const observed =
      results === undefined && isCutOff(answer)
        ? `an answer that breaks off after ${answer.body.length} bytes`
        : `${results?.length ?? 'no'} item results, or some without a status, for ${body.items} documents`
    return { kind: 'wait', failure: failure('CLUSTER_UNAVAILABLE', { cluster, observed }), delivery: 'possible' }
  }
  const { counts, refused, alike, busy, isOpen } = judged
  const everywhere = refused.length === body.items && alike !== undefined ? sameForAll(alike, body, cluster) : undefined
  if (everywhere !== undefined) return { kind: 'stop', failure: everywhere, delivery: 'none' }
  const settled = { ...counts, refused: refusedIn(results, refused) }
  const [first] = busy
  if (first === undefined) return { kind: 'done', settled }
  // A 504 of an item leaves the outcome open, as one of a whole request does.
  const delivery = isOpen ? 'possible' : 'none'
  return { kind: 'retryItems', settled, items: busy, failure: nameBusy(results.at(first), body, cluster), delivery }
}

/** Judges every item. Returns undefined if one has no status. */
function judgeEach(results: BulkItems, body: JudgedBody) {
  const counts = { ...nothing, deleted: 0, noop: 0, notFound: 0, older: 0, dropped: 0 }
  const refused: number[] = []
  const busy: number[] = []
  /** The first refusal, if all others are of its type. */
  let alike: Refusal | undefined
  let isOpen = false
  for (let item = 0; item < results.length; item += 1) {
    const result = results.at(item)
    if (result.status === undefined) return undefined
    const outcome = judgeItem(result, body)
    if (outcome === 'refused') {
      const refusal = refusalOf(result)
      if (refused.length === 0) alike = refusal
      else if (refusal.type !== alike?.type) alike = undefined
      refused.push(item)
    } else if (outcome === 'busy') {
      busy.push(item)
      isOpen ||= result.status === 504
    } else counts[outcome] += 1
  }
  return { counts, refused, alike, busy, isOpen }
}

type Refusal = Omit<RefusedItem, 'item'>

/** Each pass reads the reasons from the answer again: as objects, those of a whole body take many megabytes. */
function refusedIn(results: BulkItems, refused: readonly number[]): RefusedItems {
  if (refused.length === 0) return []
  const items = Uint32Array.from(refused)
  const kept = results.only(items)
  return {
    items,
    length: items.length,
    *[Symbol.iterator]() {
      let at = 0
      for (const item of items) {
        yield { item, ...refusalOf(kept.at(at)) }
        at += 1
      }
    },
  }
}

const nothing: Settled = { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, refused: [] }

/** Reads an answer without errors from its raw bytes. Returns undefined if the answer must be parsed. */
function allStored(bytes: Buffer, items: number): { created: number; updated: number } | undefined {
  if (!isWithoutErrors(bytes)) return undefined
  if (CREATED.test(sameResult(bytes, items) ?? '')) return { created: items, updated: 0 }
  if (bytes.includes('"failure_store":"used"') || bytes.includes('"result":"noop"')) return undefined
  const created = count(bytes, '"status":201')
  const updated = count(bytes, '"status":200')
  return created + updated === items ? { created, updated } : undefined
}

/** With or without the name of an index. */
const CREATED = /^\{"create":\{(?:"_index":"[^"\\]+",)?"status":201\}\}$/

function count(bytes: Buffer, text: string): number {
  const needle = Buffer.from(text)
  let found = 0
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + needle.length)) found += 1
  return found
}

/** Returns whether the end of Elasticsearch's answer is missing although the connection reported no error. */
function isCutOff({ headers, body }: ClusterAnswer): boolean {
  return headers['x-elastic-product'] === 'Elasticsearch' && !body.toString('latin1').trimEnd().endsWith('}')
}

function judgeItem(result: BulkItem, body: JudgedBody): Exclude<keyof Settled, 'accepted'> | 'busy' {
  const { status = 0, action } = result
  const row = rowOf(body.operation === 'mixed' && isOperation(action) ? action : body.operation)
  if (status === 200 || status === 201) {
    // The failure store holds the document, and the data stream does not.
    if (result.failureStore === 'used') return 'refused'
    if (status === 201) return 'created'
    return again(acceptedAs(row, result.result), body)
  }
  if (status === 429 || status === 503) return 'busy'
  if (status === 504) return body.safeToResend ? 'busy' : 'unknown'
  if (status === 404 && row.repeat === 'notFound' && result.error === undefined) return 'notFound'
  return status === 409 ? judgeConflict(row, body) : 'refused'
}

function judgeConflict(
  { changes, repeat }: OperationRow,
  body: JudgedBody,
): Exclude<keyof Settled, 'accepted'> | 'busy' {
  if (body.condition !== undefined) return judgeDemand(body.condition, body)
  // Another request changed the same document at the same moment.
  if (changes) return 'busy'
  if (repeat !== 'conflict') return 'refused'
  if (body.ownIds && body.resent) return 'duplicate'
  if (body.onConflict === 'skip') return 'skipped'
  // It may be our own earlier send or another document with the same id.
  return body.doubtful && body.comparesConflicts !== true ? 'unknown' : 'refused'
}

/** A document that Sluice made the id of, and that an earlier request has stored, changes nothing. */
function again<Count extends string>(count: Count, { ownIds, resent }: JudgedBody): Count | 'duplicate' {
  return count === 'updated' && ownIds && resent ? 'duplicate' : count
}

/** Judges a conflict with what the action line demands. */
function judgeDemand(condition: ConditionKind, { doubtful }: JudgedBody): 'older' | 'unknown' | 'refused' {
  if (condition === 'version') return 'older'
  // The change may be our own earlier send.
  return doubtful ? 'unknown' : 'refused'
}

function refusalOf({ status = 0, error, failureStore: store }: BulkItem): Refusal {
  if (store === 'used')
    return { status, type: 'failure_store', reason: "the document went to the data stream's failure store" }
  return { status, type: 'error', reason: 'no reason given', ...error }
}

function nameBusy(result: BulkItem, body: JudgedBody, cluster: string): Failure {
  const { status, type, reason: said } = refusalOf(result)
  const reason = quote(said)
  // The disk is full, and waiting does not empty it.
  if (type === 'cluster_block_exception' && status === 429)
    return failure('INDEX_BLOCKED', { index: body.index, reason, status })
  if (status === 429) return failure('CLUSTER_OVERLOADED', { cluster, reason: `${type}: ${reason}`, status })
  return failure('CLUSTER_UNAVAILABLE', { cluster, observed: `status ${status}, ${type}: ${reason}`, status })
}

const ofOneIndex = ['cluster_block_exception', 'index_closed_exception', 'invalid_index_name_exception']

/**
 * Returns the failure if the refusal is about the target and not about any document: every other document of the run would get
 * it too. It stops the run, so that the dead letters do not fill with a whole input.
 */
function sameForAll(first: Refusal, body: JudgedBody, cluster: string): Failure | undefined {
  const { status, type } = first
  const reason = quote(first.reason)
  // Documents for other indices may be stored.
  if (body.isOneOfMany === true && ofOneIndex.includes(type)) return undefined
  switch (type) {
    case 'cluster_block_exception':
    case 'index_closed_exception':
      return failure('INDEX_BLOCKED', { index: body.index, reason, status })
    case 'security_exception':
      return failure('CLUSTER_PRIVILEGE_MISSING', { cluster, reason, status })
    case 'invalid_index_name_exception':
      return failure('INDEX_NAME_INVALID', { index: body.index, problem: `is refused: ${reason}` })
    case 'index_not_found_exception':
      return failure('REQUEST_REFUSED', { cluster, status, reason })
    case 'document_parsing_exception':
      return /_id must be unset or set to .* is in time_series mode/s.test(reason)
        ? failure('IDS_REFUSED', { index: body.index, reason })
        : undefined
    case 'illegal_argument_exception':
      return /^pipeline with id|op_type of create|no write index|^failed to execute script: (?:compile error|unable to find script|cannot execute)/.test(
        reason,
      )
        ? failure('REQUEST_REFUSED', { cluster, status, reason })
        : undefined
    default:
      // A cluster with as many shards as it allows makes no index for any document.
      return /maximum (normal |frozen )?shards open/.test(reason)
        ? failure('REQUEST_REFUSED', { cluster, status, reason })
        : undefined
  }
}
