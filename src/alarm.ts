/** What came of a run, told to the service-management platform. */
import { type Account, failedText, goodText } from './alarm-text.js'
import { checkAlarmOptions } from './check-alarm-options.js'
import { explain } from './failure/catalogue.js'
import { type Failure, failure } from './failure/failure.js'
import { SluiceError, isSluiceError } from './failure/sluice-error.js'
import type { ConnectOptions, ServiceNowOptions } from './ingest-options.js'
import type { Receipt } from './ledger/receipt.js'
import { type InstanceOptions, openServiceNow } from './open-instance.js'
import { type Incident, incidentsOf } from './servicenow/incidents.js'
import type { Instance } from './servicenow/instance.js'
import { OWN_TITLE, raiseIncident, resolveIncidents } from './servicenow/raise-incident.js'

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

const DEFAULT_TIMEOUT_MS = 30_000
/** The platform's own value since its release Utah; no instance checks it against its list. */
const DEFAULT_CLOSE_CODE = 'Solution provided'

/**
 * Raises the alarm after a run, or takes it back. A run that failed opens an incident, or adds itself to the one that its job has
 * open; a good run resolves that. A run that was interrupted, is out of budget or found its input locked does neither. What is in the
 * incident is what the run's failure and receipt say.
 *
 * ```ts
 * try {
 *   await reportRun({ receipt: await ingest(options) }, alarm)
 * } catch (error) {
 *   await reportRun({ error }, alarm)
 *   throw error
 * }
 * ```
 * Never throws: that would hide what the run threw.
 */
export async function reportRun(outcome: RunOutcome, options: AlarmOptions): Promise<Reported> {
  try {
    checkAlarmOptions(options)
    const account = accountOf(outcome)
    const verdict = judgeRun(account, options.allowRejected ?? false)
    return verdict === 'neither' ? nothing : await inTime(options, async limit => await tell(account, verdict, limit))
  } catch (error) {
    return { did: 'failed', incidents: [], notes: [], failure: failureIn(error) }
  }

  async function tell(account: Account, verdict: 'failed' | 'good', signal: AbortSignal): Promise<Reported> {
    await using instance = await openServiceNow(wayOf(options))
    return verdict === 'failed'
      ? await raise(account, options, instance, signal)
      : await takeBack(account, options, instance, signal)
  }
}

/** Throws SluiceError OPTION_INVALID or PLAINTEXT_CREDENTIALS for options with which no alarm could ever be raised. Connects to nothing. */
export async function checkAlarm(options: AlarmOptions): Promise<void> {
  checkAlarmOptions(options)
  try {
    await using _ = await openServiceNow(wayOf(options))
  } catch (error) {
    // What is wrong with the proxy is for the run to say.
    if (isSluiceError(error) && explain(error.code).stage === 'proxy') return
    throw error
  }
}

function wayOf({ servicenow, proxy, timeoutMs = DEFAULT_TIMEOUT_MS }: AlarmOptions): InstanceOptions {
  return { servicenow, proxy, concurrency: 1, timeoutMs, maxElapsedMs: timeoutMs }
}

const nothing: Reported = { did: 'nothing', incidents: [], notes: [] }

/** An error that is none of Sluice's is a bug, or the caller's own. */
function accountOf({ receipt, error }: RunOutcome): Account {
  if (error === undefined) return { failure: receipt?.failure, receipt }
  // Only `ingest` and `replay` attach a receipt.
  return { failure: failureIn(error), receipt: isSluiceError(error) ? (error.receipt as Receipt | undefined) : receipt }
}

function failureIn(error: unknown): Failure {
  return isSluiceError(error) ? error.failure : failure('INTERNAL', { problem: String(error) })
}

/** Interrupted or out of budget (5), or somebody else is at it (6): another run will tell. */
const undecided: readonly number[] = [5, 6]

export function judgeRun({ failure: known, receipt }: Account, allowRejected: boolean): 'failed' | 'good' | 'neither' {
  if (known !== undefined) return undecided.includes(explain(known.code).exit) ? 'neither' : 'failed'
  const { rejected = 0, unknown = 0 } = receipt ?? {}
  return unknown > 0 || (rejected > 0 && !allowRejected) ? 'failed' : 'good'
}

async function raise(
  account: Account,
  options: AlarmOptions,
  instance: Instance,
  signal: AbortSignal,
): Promise<Reported> {
  const { headline, finding, facts } = failedText(account, { ...options, title: options.title ?? options.job })
  const { did, incident, notes } = await raiseIncident(incidentsOf(instance, keyOf(options), signal), {
    shortDescription: `${OWN_TITLE}${headline}`,
    description: `${finding}\n\n${facts}`,
    note: `${finding}\n\n${facts}`,
    fields: { ...levelsOf(account), ...fieldsOf(options, name => !isForClosing(name)) },
    closeCode: closeCodeOf(options),
    at: new Date().toISOString(),
  })
  return { did, incidents: [incident.number], notes }
}

async function takeBack(
  account: Account,
  options: AlarmOptions,
  instance: Instance,
  signal: AbortSignal,
): Promise<Reported> {
  const resolved: readonly Incident[] = await resolveIncidents(incidentsOf(instance, keyOf(options), signal), {
    close_code: closeCodeOf(options),
    close_notes: goodText(account, { ...options, title: options.title ?? options.job }),
    ...fieldsOf(options, isForClosing),
  })
  return resolved.length === 0
    ? nothing
    : { did: 'resolved', incidents: resolved.map(({ number }) => number), notes: [] }
}

function keyOf({ job }: AlarmOptions): string {
  return `sluice:${job.toLowerCase()}`
}

/** What needs a person is more than what may pass, and that is more than documents that were not stored. 1 is high, 3 is low. */
function levelsOf({ failure: known }: Account): Readonly<Record<'impact' | 'urgency', string>> {
  if (known === undefined) return { impact: '3', urgency: '3' }
  return explain(known.code).retry === 'later' ? { impact: '3', urgency: '2' } : { impact: '2', urgency: '2' }
}

function isForClosing(name: string): boolean {
  return name.startsWith('close_')
}

function fieldsOf({ fields = {} }: AlarmOptions, isWanted: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => isWanted(name)))
}

function closeCodeOf({ fields }: AlarmOptions): string {
  return fields?.['close_code'] ?? DEFAULT_CLOSE_CODE
}

/** Ends when its time is over, whatever it is waiting for. */
async function inTime(
  { servicenow, timeoutMs = DEFAULT_TIMEOUT_MS, signal }: AlarmOptions,
  work: (limit: AbortSignal) => Promise<Reported>,
): Promise<Reported> {
  const time = new AbortController()
  const timer = setTimeout(() => time.abort(), timeoutMs)
  const limit = signal === undefined ? time.signal : AbortSignal.any([time.signal, signal])
  const over = new Promise<never>((_, reject) => {
    const tooLate = () => {
      const observed = time.signal.aborted ? `no answer within ${timeoutMs / 1000} s` : 'it was given up'
      reject(new SluiceError(failure('SERVICENOW_UNREACHABLE', { instance: hostOf(servicenow.url), observed })))
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
