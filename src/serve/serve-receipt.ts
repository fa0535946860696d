/** Reports the status of a receiver while it runs, and its receipt at the end. */
import { explain } from '../failure/catalogue.js'
import { type Failure, failure } from '../failure/failure.js'
import { Account, settledOf } from '../ledger/account.js'
import type { Loader } from './loader.js'
import type { Receiver } from './receiver.js'
import type { ServeReceipt, ServeStatus } from './serve-options.js'
import type { Spool } from './spool.js'
import type { Counts, Receipt, Rejections } from '../ledger/receipt.js'

export interface Parts {
  readonly spool: Pick<Spool, 'waiting'>
  readonly loader: Pick<Loader, 'trouble' | 'lastFailure' | 'cluster'>
  readonly receiver: Pick<Receiver, 'accepted' | 'answers'>
  readonly totals: Totals
}

export function serveStatusOf(
  { spool, loader, receiver, totals }: Parts,
  { spoolLimit, isClosing }: { readonly spoolLimit: number; readonly isClosing: boolean },
): ServeStatus {
  const { waiting } = spool
  const { trouble, lastFailure } = loader
  const isFull = waiting.bytes >= spoolLimit
  return {
    state: isClosing ? 'closing' : isFull ? 'full' : trouble === undefined ? 'ok' : 'blocked',
    waiting,
    accepted: receiver.accepted,
    answers: { ...receiver.answers },
    loaded: totals.counts,
    ...(lastFailure === undefined
      ? {}
      : {
          failure: {
            ...lastFailure,
            fix: explain(lastFailure.code).fixes,
            ...(trouble === undefined ? {} : { since: trouble.since }),
          },
        }),
  }
}

/** Returns why the receiver was closed. */
export function reasonOf(signal: AbortSignal | undefined): string {
  return typeof signal?.reason === 'string' ? signal.reason : 'closed by the calling program'
}

export function serveReceiptOf(
  { spool, loader, receiver, totals }: Parts,
  { reason, path, elapsedMs }: { readonly reason: string; readonly path: string; readonly elapsedMs: number },
): ServeReceipt {
  const { waiting } = spool
  const { counts, rejections, requests, retries, deadLetters } = totals
  const left: Failure | undefined =
    waiting.bytes === 0
      ? undefined
      : failure('RUN_INTERRUPTED', {
          reason,
          settled: settledOf(counts),
          ...(loader.trouble === undefined
            ? {}
            : { stoppedBy: `${loader.trouble.failure.code}: ${loader.trouble.failure.message}` }),
        })
  return {
    status: left === undefined ? 'finished' : 'interrupted',
    ...(left === undefined ? {} : { failure: left }),
    accepted: receiver.accepted,
    answers: { ...receiver.answers },
    ...counts,
    waiting,
    rejections,
    requests,
    retries,
    elapsedMs: Math.round(elapsedMs),
    ...(loader.cluster === undefined ? {} : { cluster: loader.cluster }),
    ...(deadLetters === undefined ? {} : { deadLetters }),
    spool: path,
  }
}

/** Adds up the outcomes of all loaded segments. */
export class Totals {
  readonly #account = new Account()
  #requests = 0
  #retries = 0
  #deadLetters: string | undefined

  add({ rejections, requests, retries, deadLetters, ...receipt }: Receipt): void {
    // Every rejected document belongs to a kind and is counted there.
    this.#account.add({ ...countsOf(receipt), rejected: 0 })
    for (const kind of rejections) this.#account.rejectAlike(kind)
    this.#requests += requests
    this.#retries += retries
    this.#deadLetters = deadLetters ?? this.#deadLetters
  }

  get counts(): Counts {
    return this.#account.counts
  }

  get rejections(): readonly Rejections[] {
    return this.#account.rejections
  }

  get requests(): number {
    return this.#requests
  }

  get retries(): number {
    return this.#retries
  }

  get deadLetters(): string | undefined {
    return this.#deadLetters
  }
}

function countsOf(counts: Omit<Counts, 'rejected'>): Partial<Counts> {
  const { read, created, updated, deleted, noop, duplicate, skipped, unsent, unknown } = counts
  return { read, created, updated, deleted, noop, duplicate, skipped, unsent, unknown }
}
