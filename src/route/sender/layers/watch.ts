/** The layer that reports each bulk request: when it is sent, and when its answer is there. */
import type { Failure } from '../../../base/failure/failure.js'
import type { Clock } from '../../../base/flow.js'
import type { Send, Verdict } from '../send.js'

export interface RequestWatcher {
  onSent(sent: SentRequest): void
  onAnswered(answered: AnsweredRequest): void
}

export interface SentRequest {
  /** Requests without an answer, with this one. */
  readonly open: number
  readonly documents: number
  /** Bytes of its body, as they go over the wire. */
  readonly bytes: number
}

export interface AnsweredRequest {
  /** Requests that are still without an answer. */
  readonly open: number
  readonly documents: number
  /** From sending the request to its answer, or to the loss of its connection, in milliseconds. */
  readonly ms: number
  /** HTTP status. Absent: the request got no answer. */
  readonly status?: number
  /** Bytes of the answer's body, as it came over the wire. */
  readonly bytes: number
  /** Why the request was not accepted as a whole. */
  readonly code?: Failure['code']
}

export function watchRequests(watcher: RequestWatcher, clock: Pick<Clock, 'now'>, inner: Send): Send {
  let open = 0
  return async request => {
    const { body, wire, answered } = request
    const sentAt = clock.now()
    let answer: { readonly at: number; readonly status: number; readonly bytes: number } | undefined
    open += 1
    watcher.onSent({ open, documents: body.items, bytes: wire?.bytes.length ?? body.bytes.length })
    let verdict: Verdict | undefined
    try {
      verdict = await inner({
        ...request,
        answered: (bytes, status) => {
          answer = { at: clock.now(), status, bytes }
          answered?.(bytes, status)
        },
      })
      return verdict
    } finally {
      open -= 1
      const { at, status, bytes } = answer ?? { at: clock.now(), bytes: 0 }
      const code = verdict !== undefined && 'failure' in verdict ? verdict.failure.code : undefined
      watcher.onAnswered({
        open,
        documents: body.items,
        ms: at - sentAt,
        bytes,
        ...(status === undefined ? {} : { status }),
        ...(code === undefined ? {} : { code }),
      })
    }
  }
}
