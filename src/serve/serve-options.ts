import type { Failure } from '../failure/failure.js'
import type { IngestEvent, IngestOptions } from '../options/ingest-options.js'
import type { Counts, Rejections } from '../ledger/receipt.js'

/** What of `ingest` has no place in a load without an end, or is `serve`'s own. */
type OfOneLoad =
  | 'source'
  | 'stdin'
  | 'servicenow'
  | 'table'
  | 'swapAlias'
  | 'indexBody'
  | 'checkQuery'
  | 'checkHits'
  | 'format'
  | 'pick'
  | 'maxRejected'
  | 'maxElapsedMs'
  | 'timeBudgetMs'
  | 'startedAt'
  | 'byteBudget'
  | 'onBlock'
  | 'spool'
  | 'runId'
  | 'again'
  | 'dryRun'
  | 'onEvent'

/** Where documents are accepted, and where they are loaded into. `target`, `index`, `stateDir` and `token` have to be there. */
export interface ServeOptions extends Omit<IngestOptions, OfOneLoad> {
  readonly index: string
  /** Folder of the spool: what was acknowledged is in it until it is loaded. It has to outlive the process. */
  readonly stateDir: string
  /** What callers bring as `Authorization: Bearer TOKEN`, at least 16 characters. `false`: nothing, on a loopback address alone. */
  readonly token: string | false
  /** `ADDRESS:PORT`; port 0 is any that is free. Default `127.0.0.1:8080`. */
  readonly listen?: string | undefined
  /** PEM of the certificate, with those between it and its authority, and of its key: requests are https. Default: they are http. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined
  /** Default `/`. */
  readonly path?: string | undefined
  /** Largest request in bytes, 1,000 to 100,000,000, also once it is decompressed. Default 10,000,000. */
  readonly maxBody?: number | undefined
  /** Requests are answered with 429 while so many bytes wait on the disk: 1,000,000 or more. Default 1,000,000,000. */
  readonly spoolLimit?: number | undefined
  /** Begin to accept although the way to the cluster is closed. Default false: what closes it is thrown. */
  readonly acceptAnyway?: boolean | undefined
  /** Document ids. `cluster` is not possible: what was under way when the process was killed would be doubled. */
  readonly ids?: 'run' | 'field' | undefined
  /** Called for everything worth telling. Must not throw: one that does is not called again. */
  readonly onEvent?: ((event: ServeEvent) => void) | undefined
}

/** What happens while documents are accepted and loaded. */
export type ServeEvent =
  | { readonly type: 'listening'; readonly url: string }
  /** Documents of earlier processes were found in the spool. `cutBytes`: of requests that were never acknowledged. */
  | { readonly type: 'found'; readonly documents: number; readonly bytes: number; readonly cutBytes: number }
  /** A part of the spool is loaded, and removed. */
  | { readonly type: 'loaded'; readonly counts: Counts; readonly waiting: Waiting }
  /** It could not be loaded, and will be tried again. Documents are accepted meanwhile. */
  | { readonly type: 'failed'; readonly failure: Failure; readonly retryMs: number; readonly waiting: Waiting }
  /** Loading goes on. */
  | { readonly type: 'recovered'; readonly failure: Failure }
  | Extract<IngestEvent, { readonly type: 'preflight' | 'retry' | 'rejected' | 'warning' }>

/** Acknowledged, and not loaded yet. */
export interface Waiting {
  readonly documents: number
  readonly bytes: number
}

/** How things are. */
export interface ServeStatus {
  /** `blocked`: accepting, and not able to load. `full`: the spool is at its limit. `closing`: nothing is accepted any more. */
  readonly state: 'ok' | 'blocked' | 'full' | 'closing'
  readonly waiting: Waiting
  /** Documents that this process has acknowledged. */
  readonly accepted: number
  /** Answers of this process to those that posted, by their status. */
  readonly answers: Readonly<Record<string, number>>
  /** What became of the documents whose part of the spool this process has loaded to its end. */
  readonly loaded: Counts
  /** Why loading failed last. `since`, ISO 8601: it has not succeeded from then on; absent where it has. */
  readonly failure?: Failure & { readonly fix: readonly string[]; readonly since?: string }
}

/** The account of a process that has served. */
export interface ServeReceipt extends Counts {
  /** `interrupted`: something waits in the spool; the same command loads it. */
  readonly status: 'finished' | 'interrupted'
  /** Why something waits. */
  readonly failure?: Failure
  readonly accepted: number
  readonly answers: Readonly<Record<string, number>>
  readonly waiting: Waiting
  readonly rejections: readonly Rejections[]
  /** Bulk requests, and how often one was sent again. */
  readonly requests: number
  readonly retries: number
  readonly elapsedMs: number
  readonly cluster?: string
  /** Where rejected documents are, when there are any. */
  readonly deadLetters?: string
  /** The folder of the spool. */
  readonly spool: string
}

/** A receiver that accepts documents. */
export interface Serving extends AsyncDisposable {
  /** With the port that it has. */
  readonly url: string
  status(): ServeStatus
  /** Resolves once it is closed. Rejects with the SluiceError that ended it: options that no waiting puts right, or a bug. */
  readonly finished: Promise<ServeReceipt>
  /**
   * Accepts nothing more, answers what is under way, and loads what waits, for at most `graceMs`. What is left is in the spool for the
   * next process.
   */
  close(): Promise<ServeReceipt>
}
