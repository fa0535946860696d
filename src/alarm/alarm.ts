/** Reports the result of a run to ServiceNow. */
import { type AlarmOptions, checkAlarmOptions, type Reported, type RunOutcome } from './alarm-options.js'
import { type RunAccount, failedText, goodText } from './alarm-text.js'
import { defaultOf } from '../options/defaults.js'
import { fail } from '../failure/fail.js'
import { explain } from '../failure/catalogue.js'
import { isSluiceError } from '../failure/sluice-error.js'
import { accountOf, failureIn, judgeRun } from './judge-run.js'
import { type InstanceOptions, openServiceNow } from '../connect/open-servicenow.js'
import { type Incident, incidentsOf } from '../servicenow/incidents/incidents.js'
import type { Instance } from '../servicenow/instance.js'
import { OWN_TITLE, raiseIncident, resolveIncidents } from '../servicenow/incidents/raise-incident.js'

const DEFAULT_TIMEOUT_MS = defaultOf('alarmTimeoutMs')
/** The platform's default since its release Utah. No instance checks the value against its list. */
const DEFAULT_CLOSE_CODE = 'Solution provided'

/**
 * Reports a run. A failed run opens an incident, or adds a note to the open one of its job. A good run resolves it. A
 * run that was
 * interrupted, spent its budget or found its input locked does neither. The incident shows the run's failure and
 * receipt.
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

/** Throws SluiceError OPTION_INVALID or PLAINTEXT_CREDENTIALS for options with which no alarm could ever be raised. Connects to nothing. */
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
      const act = verdict === 'failed' ? raise : takeBack
      const reported = await act(account, options, instance, signal)
      return { ...reported, notes: [...notes, ...reported.notes] }
    } catch (error) {
      const isPartly = isSluiceError(error) && error.code === 'SERVICENOW_PARTLY_ALLOWED'
      if (!isPartly || attempt === MOST_ATTEMPTS) throw error
      notes[0] = `${error.code}: ${error.message}`
    }
  }
}

const nothing: Reported = { did: 'nothing', incidents: [], notes: [] }

async function raise(
  account: RunAccount,
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
  account: RunAccount,
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

/**
 * A failure that needs a person ranks above a transient one, and that above documents that were not stored. 1 is
 * high, 3 is low.
 */
function levelsOf({ failure: known }: RunAccount): Readonly<Record<'impact' | 'urgency', string>> {
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

/** Ends when its time is over, whatever it waits for. */
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
