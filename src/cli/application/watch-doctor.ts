/** Watches the route, for `sluice doctor` and `sluice serve`: one line for each change, and what others hear of it. */
import type { DoctorOptions } from '../../route/examine/examine-options.js'
import type { DoctorReport } from '../../programs/doctor/report.js'
import { diskProblem } from '../../base/disk/safe-files.js'
import { explain, SluiceError } from '../../base/failure/failure.js'
import { invalid } from '../../options/option-checks.js'
import { masked, withoutSecrets } from '../../base/secrets.js'
import type { Effective } from '../settings/resolve.js'
import { systemClock } from '../../base/time/clock.js'
import { shown } from '../../base/text/shown.js'
import type { Watching } from '../../programs/doctor/watch/watch.js'
import { showDuration } from '../terminal/columns.js'
import { loadAccess, stateDir } from './load-options.js'
import { openAlarm } from './open-alarm.js'
import { jobLabels, listenForMetrics, metricsAsked } from './open-metrics.js'
import { interruptible } from '../terminal/interrupt.js'
import { tell } from '../terminal/log.js'
import type { Terminal } from '../terminal/terminal.js'

type Change = Parameters<Watching['checked']>[1][number]

const SHORTEST_MS = 1000

/** Watches until a signal comes. Returns the exit code. Throws SluiceError if the options cannot be used. */
export async function watchDoctor(
  effective: Effective,
  terminal: Terminal,
  everyMs: number,
  readOptions: RouteWatch['readOptions'],
): Promise<number> {
  const { index, json } = effective.values
  const { metricsTextfile: textfile, metricsPort } = metricsAsked(effective)
  const [{ WatchMetrics }, { METRICS_TYPE }, { checkTextfile, replaceTextfile }] = await Promise.all([
    import('../../programs/doctor/watch/watch.js'),
    import('../../features/metrics/run-metrics.js'),
    import('./show-metrics.js'),
  ])
  if (textfile !== undefined) await checkTextfile(textfile)
  const metrics = new WatchMetrics(jobLabels(effective, { command: 'doctor', sources: [], index }))
  const page = { type: METRICS_TYPE, text: async () => await metrics.text() }
  await using _ = metricsPort === undefined ? undefined : await listenForMetrics(metricsPort, page, terminal)
  using interruption = interruptible(terminal, 'stopping')
  tell(terminal, { level: 'info', event: 'watching', message: `checking every ${showDuration(everyMs)}` })
  const run = await prepareWatch(effective, terminal, {
    everyMs,
    command: 'doctor',
    signal: interruption.signal,
    readOptions,
    say: change => terminal.out(json ? `${JSON.stringify(change)}\n` : showChange(change)),
    checked: async report => {
      metrics.checked(report, Date.now())
      if (textfile === undefined) return
      await replaceTextfile(textfile, await metrics.text()).catch((error: unknown) =>
        warn(terminal, `cannot write the metrics to ${textfile}: ${diskProblem(error)}`),
      )
    },
  })
  await run()
  return 0
}

interface RouteWatch {
  readonly everyMs: number
  /** Watches of different commands know different things. */
  readonly command: 'doctor' | 'serve'
  /** Ends the watch. */
  readonly signal: AbortSignal
  /** Reads credentials again for each check. */
  readonly readOptions: () => Promise<DoctorOptions>
  say(change: Change): void
  checked(report: DoctorReport): Promise<void>
}

/** Returns the watch, which ends when the signal aborts. Throws SluiceError before it if the options cannot be used. */
export async function prepareWatch(
  effective: Effective,
  terminal: Terminal,
  route: RouteWatch,
): Promise<() => Promise<void>> {
  const { everyMs, command, signal, readOptions, say } = route
  if (everyMs < SHORTEST_MS) throw invalid('--watch', 'is shorter than 1s')
  const { url, servicenowUrl, index, onChange, alarmTimeoutMs: timeoutMs } = effective.values
  const access = await loadAccess(effective, terminal)
  const alarm = await openAlarm(effective, terminal, access, { command, sources: [], index })
  const [{ watch }, { diagnoseForWatch }] = await Promise.all([
    import('../../programs/doctor/watch/watch.js'),
    import('../../programs/doctor/diagnose.js'),
  ])
  let isFirst = true
  const watching = {
    everyMs,
    stateDir: stateDir(effective, terminal),
    places: [command, ...[url, servicenowUrl].map(place => masked(place ?? '', terminal.manner.secrets))],
    clock: systemClock,
    now: Date.now,
    signal,
    check: async (): Promise<DoctorReport> => {
      const report = masked(await diagnoseForWatch({ ...(await readOptions()), signal }), terminal.manner.secrets)
      const { unusable } = report.facts
      if (isFirst && unusable !== undefined) throw new SluiceError(terminal.manner.typed?.(unusable) ?? unusable)
      isFirst = false
      return report
    },
    checked: async (report: DoctorReport, changes: readonly Change[]) => {
      await route.checked(report)
      for (const change of changes) {
        say(change)
        if (onChange !== undefined) await tellCommand({ command: onChange, timeoutMs, signal }, change, terminal)
      }
      if (changes.length > 0) await alarm(async () => await Promise.resolve(endedBy(report)))
    },
  }
  return async () => await watch(watching)
}

async function tellCommand(
  {
    command,
    timeoutMs,
    signal,
  }: { readonly command: string; readonly timeoutMs: number; readonly signal: AbortSignal },
  change: Change,
  terminal: Terminal,
): Promise<void> {
  const { environmentOfCommand, runShellCommand } = await import('./shell-command.js')
  const account = [`${JSON.stringify(change)}\n`]
  const problem = await runShellCommand({
    command,
    env: environmentOfCommand(terminal),
    account,
    timeoutMs,
    secrets: terminal.manner.secrets,
    signal,
  })
  if (problem === undefined) return
  warn(terminal, withoutSecrets(`the command of --on-change ${problem}`, terminal.manner.secrets))
}

function warn(terminal: Terminal, message: string): void {
  tell(terminal, { level: 'warn', event: 'watch', message })
}

function showChange({ at, kind, what, message }: Change): string {
  return shown`${at} ${kind} ${what}: ${message}\n`
}

/** The doctor's errors open an incident, and a check without any resolves it. */
function endedBy({ findings }: DoctorReport): { readonly code: number; readonly error?: SluiceError } {
  const error = findings.find(({ severity }) => severity === 'error')
  if (error === undefined) return { code: 0 }
  const { code, message, evidence } = error
  const { exit, retry } = explain(code)
  return { code: exit, error: new SluiceError({ code, message, evidence, exit, retry }) }
}
