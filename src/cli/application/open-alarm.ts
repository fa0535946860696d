import { createHash } from 'node:crypto'
import type { AlarmOptions, Reported } from '../../programs/alarm/alarm.js'
import { explain, type Failure, SluiceError } from '../../base/failure/failure.js'
import type { Receipt, ServiceNowOptions } from '../../index.js'
import { type ClusterAccess, readAlarmAccess, sharesAccess } from '../settings/option-files.js'
import type { Effective } from '../settings/resolve.js'
import { masked, withoutCredentials } from '../../base/secrets.js'
import { isTable } from '../../options/names.js'
import { invalid } from '../../options/option-checks.js'
import { connectOptions } from '../settings/library-options.js'
import { interruptible } from '../terminal/interrupt.js'
import { loadAccess, serviceNowOptions } from './load-options.js'
import { keepInstanceSecrets, type Terminal } from '../terminal/terminal.js'
import { knownFailure, sayError } from '../show/say-error.js'
import { tell } from '../terminal/log.js'

/** Reports the result of a run to the platform for `--on-failure incident`, after the user has seen it. */

/** The end of a command, after the user has seen its result. */
interface Ended {
  readonly code: number
  readonly receipt?: Receipt
  readonly error?: unknown
}

/**
 * Runs a command's work and returns its exit code. Reports an error to the user first, then to the platform. The
 * alarm changes neither the result nor the error.
 */
type Alarm = (work: () => Promise<Ended>) => Promise<number>

/**
 * Opens the alarm of one run. Throws SluiceError OPTION_INVALID, PLAINTEXT_CREDENTIALS before the run begins if the
 * alarm could never work.
 */
export async function openAlarm(
  effective: Effective,
  terminal: Terminal,
  access: ClusterAccess,
  work: Work,
  isReported: () => boolean = () => false,
): Promise<Alarm> {
  const { onFailure, dryRun, timeBudgetMs, quiet } = effective.values
  const isCommand = onFailure !== 'incident' && onFailure !== 'nothing'
  if (isCommand && work.command !== 'ingest' && work.command !== 'replay')
    throw invalid(
      'onFailure',
      `takes a command only with ingest and replay. For ${work.command}, use incident or nothing`,
    )
  if (onFailure !== 'incident' || dryRun) return async doing => (await doing()).code
  const options = await alarmOptions(effective, terminal, access, work)
  const { checkAlarm } = await import('../../programs/alarm/alarm.js')
  await checkAlarm(options)
  const endsAt = timeBudgetMs === undefined ? Infinity : performance.timeOrigin + timeBudgetMs
  return async doing => {
    const ended = await ending(doing, terminal)
    if (isReported()) return ended.code
    using interruption = interruptible(terminal, 'giving up on the alarm')
    // Files may have changed since the run began. A file that cannot be read now keeps its earlier value.
    const now = await loadAccess(effective, terminal)
      .then(async renewed => await alarmOptions(effective, terminal, renewed, work))
      .catch(() => options)
    const timeLeftMs = Math.max(1, Math.floor(endsAt - Date.now()))
    const timeoutMs = Math.min(effective.values.alarmTimeoutMs, timeLeftMs)
    const refused = sharesAccess(effective) ? refusedLogin(ended) : undefined
    const reported =
      refused === undefined
        ? await report(ended, { ...now, timeoutMs, signal: interruption.signal }, terminal)
        : notTried(refused)
    sayReported(reported, now, terminal, quiet)
    return ended.code
  }
}

async function ending(doing: () => Promise<Ended>, terminal: Terminal): Promise<Ended> {
  try {
    return await doing()
  } catch (error) {
    return { code: sayError(terminal, error), error: new SluiceError(knownFailure(terminal, error)) }
  }
}

/** Sluice does not repeat a refused login: the instance locks out a user after some attempts. */
function refusedLogin({ receipt, error }: Ended): Failure | undefined {
  const known = error instanceof SluiceError ? error.failure : receipt?.failure
  return known?.code === 'SERVICENOW_AUTH_REJECTED' || known?.code === 'SERVICENOW_TOKEN_REFUSED' ? known : undefined
}

function notTried(refused: Failure): Reported {
  const message = `${refused.message}. The alarm has no credentials of its own, and did not try these again`
  return { did: 'failed', incidents: [], notes: [], failure: { ...refused, message } }
}

async function report({ receipt, error }: Ended, options: AlarmOptions, terminal: Terminal): Promise<Reported> {
  const { reportRun } = await import('../../programs/alarm/alarm.js')
  return await reportRun({ receipt: masked(receipt, terminal.manner.secrets), error }, options)
}

export function sayReported(
  reported: Reported,
  { servicenow }: AlarmOptions,
  terminal: Terminal,
  quiet: boolean,
): void {
  const { did, incidents, notes, failure } = masked(reported, terminal.manner.secrets)
  const which = incidents.join(', ')
  if (failure !== undefined) {
    const noOther =
      explain(failure.code).stage === 'proxy' ? '. The alarm reaches the instance only through the proxy' : ''
    const message = `the alarm failed: ${failure.code}: ${failure.message}${noOther}`
    tell(terminal, { level: 'warn', event: 'alarm', message, fields: { code: failure.code } })
  } else if (did !== 'nothing' && !quiet) {
    const message = `alarm: ${which} ${did} at ${withoutCredentials(String(servicenow.url))}`
    tell(terminal, { level: 'info', event: 'alarm', message, fields: { did, incidents } })
  }
  for (const note of notes) tell(terminal, { level: 'warn', event: 'alarm', message: `${which}: ${note}` })
}

async function alarmOptions(
  effective: Effective,
  terminal: Terminal,
  access: ClusterAccess,
  work: Work,
): Promise<AlarmOptions> {
  return {
    servicenow: await alarmAccess(effective, terminal),
    proxy: connectOptions(effective, access).proxy,
    ...alarmText(effective, terminal, work),
    timeoutMs: effective.values.alarmTimeoutMs,
  }
}

/** Returns what an incident says of a run. It holds no secrets. */
export function alarmText(effective: Effective, terminal: Terminal, work: Work) {
  const { values } = effective
  return {
    job: jobNameIn(effective, work),
    title: values.job ?? work.index ?? [work.command, ...shownSources(work)].join(' '),
    command: masked(commandOf(work), terminal.manner.secrets),
    host: values.alarmHost,
    fields: values.incidentFields,
    // With a limit, the user accepts rejected documents up to the limit.
    allowRejected: values.maxRejected !== undefined,
  }
}

export async function alarmAccess(effective: Effective, terminal: Terminal): Promise<ServiceNowOptions> {
  const own = await readAlarmAccess(effective)
  if (own === undefined) return await serviceNowOptions(effective, terminal)
  keepInstanceSecrets(terminal, own)
  return own
}

/** Returns the name that all runs of a job share. */
export function jobNameIn(effective: Effective, work: Work): string {
  return effective.values.job ?? jobOf(work, placesOf(effective, work))
}

function placesOf({ values }: Effective, { command, sources }: Work): readonly (string | undefined)[] {
  return [command === 'pull' ? undefined : values.url, sources.some(isTable) ? values.servicenowUrl : undefined]
}

function commandOf(work: Work): string {
  const { command, index } = work
  return ['sluice', command, ...shownSources(work), ...(index === undefined ? [] : ['--index', index])].join(' ')
}

/** Shows globs as they are, and URLs without their query, which may contain a signature. */
function shownSources({ sources }: Work): readonly string[] {
  return sources.map(source => (/^https?:/i.test(source) ? withoutCredentials(source) : source))
}

/** The fixed part of a command, which separates its incidents from those of other commands. */
export interface Work {
  readonly command: string
  /** Sources as the user typed them, with globs. */
  readonly sources: readonly string[]
  readonly index?: string | undefined
  /** For a table: the query that selects its rows. */
  readonly query?: string | undefined
}

/** Characters of the name that people know it by. */
const SHOWN = 60

/**
 * Makes a name for a job without one. The name reveals only the index. `places`: URLs of source and target, without
 * credentials.
 */
export function jobOf({ command, sources, index = '', query }: Work, places: readonly (string | undefined)[]): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([command, index, sources, places, query]))
    .digest('hex')
  return `${nameable(index) || command}-${hash.slice(0, 16)}`
}

/** An index may have a name that no query could hold. */
function nameable(text: string): string {
  return text
    .replaceAll(/[^\w.-]/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, SHOWN)
}
