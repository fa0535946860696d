import type { Failure } from '../../base/failure/failure.js'
import type { ConnectOptions, ServiceNowOptions } from '../../options/connect-options.js'
import type { Receipt } from '../../pipeline/ledger/receipt.js'
import * as check from '../../options/option-checks.js'
import { incidentFieldProblem, jobProblem } from '../../options/names.js'

export interface AlarmOptions {
  readonly servicenow: ServiceNowOptions
  /** The proxy's complete URL, or more about it. Absent: connect directly. */
  readonly proxy?: ConnectOptions['proxy']
  /**
   * Names the job, for all its runs: up to 90 letters, digits, `.`, `_` and `-`, in either case. The incident keeps it
   * in its `correlation_id`, as `sluice:JOB`.
   */
  readonly job: string
  /** The job as people call it. Default: `job`. */
  readonly title?: string | undefined
  /** The command that ran, for the incident's text. Must hold no secret. */
  readonly command?: string | undefined
  /** The machine that ran it. Default: the text names none. */
  readonly host?: string | undefined
  /**
   * Fields of the incident in their stored form: `{ assignment_group: SYS_ID, urgency: '1' }`. Fields that begin with
   * `close_` apply when it is resolved: `close_code` (default `Solution provided`).
   */
  readonly fields?: Readonly<Record<string, string>> | undefined
  /** Whether a run that finished with rejected documents is a good one. Default false. */
  readonly allowRejected?: boolean | undefined
  /** Limit of the whole report in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** The value or the error of `ingest` or `replay`. Neither: the run was good and has no receipt. */
export interface RunOutcome {
  readonly receipt?: Receipt | undefined
  readonly error?: unknown
}

export interface Reported {
  /** `nothing`: nothing had to change. `failed`: see `failure`. */
  readonly did: 'opened' | 'updated' | 'resolved' | 'nothing' | 'failed'
  /** Numbers of the incidents. */
  readonly incidents: readonly string[]
  /** Deviations from the request. */
  readonly notes: readonly string[]
  readonly failure?: Failure
}

const options = {
  servicenow: check.anything,
  proxy: check.anything,
  job: value => check.string(value) ?? jobProblem(String(value)),
  title: check.name,
  command: check.string,
  host: check.name,
  fields: value => check.jsonObject(value) ?? problemInFields(value),
  allowRejected: check.flag,
  timeoutMs: check.whole(1, 2 ** 31 - 1),
  signal: check.signal,
} satisfies Record<keyof AlarmOptions, check.Check>

/** Throws SluiceError OPTION_INVALID. Instance and proxy are checked when the instance is opened. */
export function checkAlarmOptions(given: AlarmOptions): void {
  const found = check.problemIn(given, options)
  if (found !== undefined) throw check.invalid(found.option ?? 'alarm', found.problem)
  for (const name of ['servicenow', 'job'] as const)
    if (given[name] === undefined) throw check.invalid(name, 'is not set')
}

function problemInFields(fields: unknown): string | undefined {
  for (const [name, value] of Object.entries(fields as Record<string, unknown>)) {
    if (typeof value !== 'string') return `has a value of ${name} that is not a string`
    const problem = incidentFieldProblem(name)
    if (problem !== undefined) return problem
  }
  return undefined
}
