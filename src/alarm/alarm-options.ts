import type { Failure } from '../failure/failure.js'
import type { ConnectOptions, ServiceNowOptions } from '../options/ingest-options.js'
import type { Receipt } from '../ledger/receipt.js'

export interface AlarmOptions {
  readonly servicenow: ServiceNowOptions
  /** The proxy's complete URL, or more about it. Absent: the instance is reached directly. */
  readonly proxy?: ConnectOptions['proxy']
  /**
   * Tells this job from others, and is the same for each of its runs: up to 90 letters, digits, `.`, `_` and `-`. Case does not
   * count. The incident keeps it in its `correlation_id`, as `sluice:JOB`.
   */
  readonly job: string
  /** The job as people call it. Default: `job`. */
  readonly title?: string | undefined
  /** What was run, for the incident's text. Must hold no secret. */
  readonly command?: string | undefined
  /** Where it ran. Default: it is not told. */
  readonly host?: string | undefined
  /**
   * Fields of the incident, as the platform stores them: `{ assignment_group: SYS_ID, urgency: '1' }`. Those that begin with
   * `close_` are for when it is resolved: `close_code` (default `Solution provided`).
   */
  readonly fields?: Readonly<Record<string, string>> | undefined
  /** Whether a run that finished with rejected documents is a good one. Default false. */
  readonly allowRejected?: boolean | undefined
  /** For all of it, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** What a run came to: what `ingest` or `replay` resolved to, or what it threw. Neither: it went well, and has no receipt. */
export interface RunOutcome {
  readonly receipt?: Receipt | undefined
  readonly error?: unknown
}

export interface Reported {
  /** `nothing`: there was nothing to open, to update or to resolve. `failed`: the platform could not be told, see `failure`. */
  readonly did: 'opened' | 'updated' | 'resolved' | 'nothing' | 'failed'
  /** Their numbers, as people at the platform call them. */
  readonly incidents: readonly string[]
  /** What is not as it was asked for. */
  readonly notes: readonly string[]
  readonly failure?: Failure
}
