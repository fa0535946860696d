/** Reports the status of a receiver while it runs, and its receipt at the end. */
import { explain, failure } from '../../base/failure/failure.js'
import { Account, settledOf } from '../../pipeline/ledger/account.js'
import type { Loader } from './loader.js'
import type { Receiver } from './receiver.js'
import type { ServeReceipt, ServeStatus } from './serve-options.js'
import { ENTRY_BYTES } from './segment.js'
import type { Spool } from './spool.js'
import type { Counts, Receipt, Rejections } from '../../pipeline/ledger/receipt.js'

interface Parts {
  readonly spool: Spool
  readonly loader: Loader
  readonly receiver: Receiver
  readonly totals: Totals
}

export function serveStatusOf(
  { spool, loader, receiver, totals }: Parts,
  { spoolLimit, isClosing }: { readonly spoolLimit: number; readonly isClosing: boolean },
): ServeStatus {
  const { waiting } = spool
  const { trouble } = loader
  const isFull = spool.bytes + ENTRY_BYTES > spoolLimit
  return {
    state: isClosing ? 'closing' : isFull ? 'full' : trouble === undefined ? 'ok' : 'blocked',
    waiting,
    accepted: receiver.accepted,
    answers: { ...receiver.answers },
    loaded: totals.counts,
    ...(trouble === undefined
      ? {}
      : { failure: { ...trouble.failure, fix: explain(trouble.failure.code).fixes, since: trouble.since } }),
  }
}

export function stopReason(signal: AbortSignal | undefined): string {
  return typeof signal?.reason === 'string' ? signal.reason : 'closed by the calling program'
}

export function serveReceiptOf(
  { spool, loader, receiver, totals }: Parts,
  { reason, path, elapsedMs }: { readonly reason: string; readonly path: string; readonly elapsedMs: number },
): ServeReceipt {
  const { waiting } = spool
  const { rejections, deadLetters } = totals
  // A receiver loads into no queue, and accepts documents itself.
  const { accepted: _, ...counts } = totals.counts
  const why = loader.trouble?.failure
  const stopped = why === undefined ? {} : { stoppedBy: `${why.code}: ${why.message}` }
  const evidence = { reason, settled: settledOf(counts), ...stopped }
  return {
    ...(waiting.bytes === 0
      ? { status: 'finished' }
      : { status: 'interrupted', failure: failure('RUN_INTERRUPTED', evidence) }),
    accepted: receiver.accepted,
    answers: { ...receiver.answers },
    ...counts,
    waiting,
    rejections,
    requests: totals.requests,
    retries: totals.retries,
    elapsedMs: Math.round(elapsedMs),
    ...(loader.cluster === undefined ? {} : { cluster: loader.cluster }),
    ...(deadLetters === undefined ? {} : { deadLetters }),
    spool: path,
  }
}

export class Totals {
  readonly #account = new Account()
  requests = 0
  retries = 0
  deadLetters: string | undefined

  add({ rejections, requests, retries, deadLetters, ...receipt }: Receipt): void {
    // Every rejected document belongs to a kind and is counted there.
    this.#account.add({ ...receipt, accepted: 0, rejected: 0 })
    for (const kind of rejections) this.#account.rejectAlike(kind)
    this.requests += requests
    this.retries += retries
    this.deadLetters = deadLetters ?? this.deadLetters
  }

  get counts(): Counts {
    return this.#account.counts
  }

  get rejections(): readonly Rejections[] {
    return this.#account.rejections
  }
}
