/** Reports the result of a run to ServiceNow. */
import * as check from '../../options/option-checks.js'
import { failedText, goodText, type JobText, type RunAccount } from './alarm-text.js'
import { defaults } from '../../options/describe-option.js'
import { explain, fail, type Failure, failure, isSluiceError } from '../../base/failure/failure.js'
import type { Receipt } from '../../pipeline/ledger/receipt.js'
import { visibleLines } from '../../base/text/shown.js'
import { type InstanceOptions, openServiceNow } from '../../route/connect/open-servicenow.js'
import { type Incidents, incidentsOf } from './incidents.js'
import { OWN_TITLE, raiseIncident, resolveIncidents } from './raise-incident.js'
import type { ConnectOptions, ServiceNowOptions } from '../../options/connect-options.js'
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

const DEFAULT_TIMEOUT_MS = defaults.alarmTimeoutMs
/** The default of the platform since the release Utah. Instances accept other values too. */
const DEFAULT_CLOSE_CODE = 'Solution provided'

/**
 * Reports a run. A failed run opens an incident, or adds a note to the open one of its job. A good run resolves it. A
 * run that was interrupted, spent its budget or found its input locked does neither.
 *
 * ```ts
 * try {
 *   await reportRun({ receipt: await ingest(options) }, alarm)
 * } catch (error) {
 *   await reportRun({ error }, alarm)
 *   throw error
 * }
 * ```
 * Never throws, because that would hide the run's own error.
 */
export async function reportRun(outcome: RunOutcome, options: AlarmOptions): Promise<Reported> {
  try {
    checkAlarmOptions(options)
    const account = accountOf(outcome)
    const verdict = judgeRun(account, options.allowRejected ?? false)
    return verdict === 'neither'
      ? nothing
      : await inTime(options, async limit => await tell(account, verdict, options, limit))
  } catch (error) {
    return { did: 'failed', incidents: [], notes: [], failure: failureIn(error) }
  }
}

/** Connects to nothing. Throws SluiceError OPTION_INVALID or PLAINTEXT_CREDENTIALS if these options can never raise an alarm. */
export async function checkAlarm(options: AlarmOptions): Promise<void> {
  checkAlarmOptions(options)
  try {
    await using _ = await openServiceNow(wayOf(options))
  } catch (error) {
    // The run itself reports problems with the proxy.
    if (isSluiceError(error) && explain(error.code).stage === 'proxy') return
    throw error
  }
}

function wayOf({ servicenow, proxy, timeoutMs = DEFAULT_TIMEOUT_MS }: AlarmOptions): InstanceOptions {
  return { servicenow, proxy, concurrency: 1, timeoutMs, maxElapsedMs: timeoutMs }
}

/** An error that is none of Sluice's is a bug, or the caller's own. */
function accountOf({ receipt, error }: RunOutcome): RunAccount {
  if (error === undefined) return { failure: receipt?.failure, receipt }
  // Only `ingest` and `replay` attach a receipt.
  return { failure: failureIn(error), receipt: isSluiceError(error) ? (error.receipt as Receipt | undefined) : receipt }
}

function failureIn(error: unknown): Failure {
  return isSluiceError(error) ? error.failure : failure('INTERNAL', { problem: String(error) })
}

/** Interrupted or out of budget (5), or another process has the lock (6): a later run decides. */
const undecided: readonly number[] = [5, 6]

export function judgeRun(
  { failure: known, receipt }: RunAccount,
  allowRejected: boolean,
): 'failed' | 'good' | 'neither' {
  if (known !== undefined) return undecided.includes(explain(known.code).exit) ? 'neither' : 'failed'
  const { rejected = 0, unknown = 0 } = receipt ?? {}
  return unknown > 0 || (rejected > 0 && !allowRejected) ? 'failed' : 'good'
}

/** Connections to try. Each may leave from the accepted address if the other one is refused. */
const MOST_ATTEMPTS = 6

async function tell(
  account: RunAccount,
  verdict: 'failed' | 'good',
  options: AlarmOptions,
  signal: AbortSignal,
): Promise<Reported> {
  const notes: string[] = []
  for (let attempt = 1; ; attempt += 1) {
    await using instance = await openServiceNow(wayOf(options))
    try {
      const incidents = incidentsOf(instance, `sluice:${options.job.toLowerCase()}`, signal)
      const reported = await (verdict === 'failed' ? raise : takeBack)(account, options, incidents)
      return { ...reported, notes: [...notes, ...reported.notes] }
    } catch (error) {
      const isPartly = isSluiceError(error) && error.code === 'SERVICENOW_PARTLY_ALLOWED'
      if (!isPartly || attempt === MOST_ATTEMPTS) throw error
      notes[0] = `${error.code}: ${error.message}`
    }
  }
}

const nothing: Reported = { did: 'nothing', incidents: [], notes: [] }

async function raise(account: RunAccount, options: AlarmOptions, incidents: Incidents): Promise<Reported> {
  const { headline, finding, facts } = failedText(account, jobOf(options))
  const { did, incident, notes } = await raiseIncident(incidents, {
    shortDescription: `${OWN_TITLE}${headline}`,
    description: `${finding}\n\n${facts}`,
    fields: { ...levelsOf(account), ...fieldsOf(options, name => !isForClosing(name)) },
    closeCode: closeCodeOf(options),
    at: new Date().toISOString(),
  })
  return { did, incidents: [incident.number], notes }
}

async function takeBack(account: RunAccount, options: AlarmOptions, incidents: Incidents): Promise<Reported> {
  const resolved = await resolveIncidents(incidents, {
    close_code: closeCodeOf(options),
    close_notes: goodText(account, jobOf(options)),
    ...fieldsOf(options, isForClosing),
  })
  if (resolved.length === 0) return nothing
  return { did: 'resolved', incidents: resolved.map(({ number }) => number), notes: [] }
}

function jobOf({ job, title = job, command, host }: AlarmOptions): JobText {
  return { title, command, host }
}

/** 1 is high, 3 is low. A failure that needs a person is the worst. */
function levelsOf({ failure: known }: RunAccount): Readonly<Record<'impact' | 'urgency', string>> {
  if (known === undefined) return { impact: '3', urgency: '3' }
  return explain(known.code).retry === 'later' ? { impact: '3', urgency: '2' } : { impact: '2', urgency: '2' }
}

function isForClosing(name: string): boolean {
  return name.startsWith('close_')
}

function fieldsOf({ fields = {} }: AlarmOptions, isWanted: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (isWanted(name) ? [[name, visibleLines(value)]] : [])),
  )
}

function closeCodeOf({ fields }: AlarmOptions): string {
  return fields?.['close_code'] ?? DEFAULT_CLOSE_CODE
}

async function inTime(
  { servicenow, timeoutMs = DEFAULT_TIMEOUT_MS, signal }: AlarmOptions,
  work: (limit: AbortSignal) => Promise<Reported>,
): Promise<Reported> {
  const time = new AbortController()
  const timer = setTimeout(() => time.abort(), timeoutMs)
  const limit = signal === undefined ? time.signal : AbortSignal.any([time.signal, signal])
  const over = new Promise<never>((_, reject) => {
    const tooLate = () => {
      const observed = time.signal.aborted ? `no answer within ${timeoutMs / 1000} s` : 'Sluice gave up'
      reject(fail('SERVICENOW_UNREACHABLE', { instance: hostOf(servicenow.url), observed }))
    }
    if (limit.aborted) tooLate()
    limit.addEventListener('abort', tooLate)
  })
  try {
    return await Promise.race([work(limit), over])
  } finally {
    clearTimeout(timer)
  }
}

function hostOf(url: string | URL): string {
  return URL.canParse(String(url)) ? new URL(url).host : 'the instance'
}
