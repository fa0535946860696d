/** The options, events and receipts of `serve`. */
import type { Failure } from '../../base/failure/failure.js'
import type { IngestOptions } from '../../options/ingest-options.js'
import type { IngestEvent } from '../../options/run-events.js'
import type { Counts, Rejections } from '../../pipeline/ledger/receipt.js'

/** Options of `ingest` that `serve` does not have: of inputs, of what is made of them, and of a load with an end. It refuses them. */
export const ofOneLoad = [
  'source',
  'stdin',
  'servicenow',
  'table',
  'remote',
  'from',
  'format',
  'csv',
  'members',
  'sheet',
  'pick',
  'edits',
  'transform',
  'transformTimeoutMs',
  'follow',
  'pollMs',
  'spool',
  'deletions',
  'maxDeleted',
  'reconcileEveryMs',
  'swapAlias',
  'indexBody',
  'checkQuery',
  'checkHits',
  'tune',
  'mapping',
  'againstIndex',
  'template',
  'maxIndices',
  'ifSeqNoField',
  'ifPrimaryTermField',
  'script',
  'scriptId',
  'retryOnConflict',
  'resendUnknown',
  'maxRejected',
  'maxElapsedMs',
  'timeBudgetMs',
  'startedAt',
  'byteBudget',
  'onBlock',
  'runId',
  'keepRuns',
  'keepDays',
  'again',
  'dryRun',
] as const satisfies readonly (keyof IngestOptions)[]

/** Where Sluice accepts documents, and where it loads them. */
export interface ServeOptions extends Omit<IngestOptions, (typeof ofOneLoad)[number] | 'onEvent'> {
  readonly index: string
  /** The folder of the spool. It holds acknowledged documents until they are loaded, and must outlive the process. */
  readonly stateDir: string
  /** The token that callers send as `Authorization: Bearer TOKEN`, at least 16 characters. `false` for none, only on a loopback address. */
  readonly token: string | false
  /** `ADDRESS:PORT`, or with the path for posted documents, `ADDRESS:PORT/PATH`. Port 0 takes any free port. Default `127.0.0.1:8080`. */
  readonly listen?: string | undefined
  /** Certificate with its chain, and its key, in PEM. With it requests use https, otherwise http. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined
  /** @deprecated Write the path behind the port in `listen`. */
  readonly path?: string | undefined
  /** Largest request in bytes, also after decompression: 1,000 to 100,000,000. Default 10,000,000. */
  readonly maxBody?: number | undefined
  /** Most documents of a request: 1 to 10,000,000. Default 100,000. */
  readonly maxDocuments?: number | undefined
  /** Most bytes that may wait on the disk, 1,000,000 or more. Above it Sluice answers 429. Default 1,000,000,000. */
  readonly spoolLimit?: number | undefined
  /** Accept documents even if the cluster cannot be reached at the start. By default that failure is thrown. */
  readonly acceptAnyway?: boolean | undefined
  /** Answer `GET /metrics` for Prometheus, to everybody (`open`) or only with the token (`token`). Default `off`. */
  readonly metrics?: 'off' | 'open' | 'token' | undefined
  /** Document ids. `cluster` is not possible: a killed process would double the documents of its last requests. */
  readonly ids?: 'run' | 'field' | 'hash' | undefined
  /** Called for every event. A function that throws is not called again. */
  readonly onEvent?: ((event: ServeEvent) => void) | undefined
}

/** Events while Sluice accepts and loads documents. */
export type ServeEvent =
  | { readonly type: 'listening'; readonly url: string }
  /** The spool holds documents of earlier processes. `cutBytes` counts bytes of requests that were never acknowledged. */
  | { readonly type: 'found'; readonly documents: number; readonly bytes: number; readonly cutBytes: number }
  /** A segment of the spool is loaded and removed. */
  | { readonly type: 'loaded'; readonly counts: Counts; readonly waiting: Waiting }
  /** A load failed. Sluice retries it, and accepts documents meanwhile. */
  | { readonly type: 'failed'; readonly failure: Failure; readonly retryMs: number; readonly waiting: Waiting }
  | { readonly type: 'recovered'; readonly failure: Failure }
  | Extract<IngestEvent, { readonly type: 'preflight' | 'sent' | 'answered' | 'retry' | 'rejected' | 'warning' }>

/** Documents that are acknowledged and not loaded yet. */
export interface Waiting {
  readonly documents: number
  readonly bytes: number
}

export interface ServeStatus {
  /** `blocked`: Sluice accepts, but cannot load. `full`: the spool is at its limit. `closing`: Sluice accepts no more. */
  readonly state: 'ok' | 'blocked' | 'full' | 'closing'
  readonly waiting: Waiting
  /** Documents that this process has acknowledged. */
  readonly accepted: number
  readonly answers: Readonly<Record<string, number>>
  /** Outcomes of the documents in segments that this process has loaded completely. */
  readonly loaded: Counts
  /** Why Sluice cannot load, and since when (ISO 8601). Absent once a load works again. */
  readonly failure?: Failure & { readonly fix: readonly string[]; readonly since: string }
}

export interface ServeReceipt extends Omit<Counts, 'accepted'> {
  /** `interrupted`: documents wait in the spool. The same command loads them. */
  readonly status: 'finished' | 'interrupted'
  readonly failure?: Failure
  /** Documents that this process has acknowledged. */
  readonly accepted: number
  readonly answers: Readonly<Record<string, number>>
  readonly waiting: Waiting
  readonly rejections: readonly Rejections[]
  readonly requests: number
  readonly retries: number
  readonly elapsedMs: number
  readonly cluster?: string
  /** The file of the rejected documents, if there are any. */
  readonly deadLetters?: string
  readonly spool: string
}

export interface Serving extends AsyncDisposable {
  /** The address with its actual port. */
  readonly url: string
  status(): ServeStatus
  /** Resolves once the receiver is closed. Rejects with the failure that ended it: an invalid option, or a bug. */
  readonly finished: Promise<ServeReceipt>
  /**
   * Accepts no more requests, answers the current ones, and loads waiting documents for at most `graceMs`. The rest stays in the spool
   * for the next process.
   */
  close(): Promise<ServeReceipt>
}

export interface ServeMetrics {
  readonly type: string
  hear(event: ServeEvent): void
  text(): Promise<string>
}
