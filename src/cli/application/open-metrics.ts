/** The metrics of a command: on a port while it runs, and in a file for node_exporter when it ends, however it ends. */
import { explain, type Failure, isSluiceError } from '../../base/failure/failure.js'
import type { IngestEvent, Receipt } from '../../index.js'
import type { RunMetrics } from '../../features/metrics/run-metrics.js'
import { diskProblem } from '../../base/disk/safe-files.js'
import { listenAddressIn, listenProblem } from '../../base/addresses.js'
import { invalid } from '../../options/option-checks.js'
import type { Settings } from '../../options/describe-option.js'
import type { Effective } from '../settings/resolve.js'
import { jobNameIn, type Work } from './open-alarm.js'
import { tell } from '../terminal/log.js'
import type { Terminal } from '../terminal/terminal.js'

/** The parts of a run that its metrics read. */
export interface Measuring {
  /** Absent: there are no metrics. */
  readonly hear?: (event: IngestEvent) => void
  /** Notes how a load ended. */
  loading(load: () => Promise<Receipt>): Promise<Receipt>
}

const unmeasured: Measuring = { loading: async load => await load() }

/**
 * Runs a command's work with the metrics that the options ask for. Returns its exit code. Throws SluiceError OPTION_INVALID before
 * the work if file or port cannot be used, and what the work throws.
 */
export async function measured(
  effective: Effective,
  terminal: Terminal,
  work: Work,
  run: (measuring: Measuring) => Promise<number>,
): Promise<number> {
  const { dryRun, follow } = effective.values
  const { metricsTextfile: path, metricsPort } = metricsAsked(effective)
  if ((path === undefined && metricsPort === undefined) || dryRun) return await run(unmeasured)
  // Few runs have metrics.
  const { checkTextfile, writeTextfile } = await import('./show-metrics.js')
  if (path !== undefined) await checkTextfile(path)
  const { RunMetrics: Metrics } = await import('../../features/metrics/run-metrics.js')
  const metrics = new Metrics(jobLabels(effective, work))
  const ended = endOf(metrics)
  await using _ = metricsPort === undefined ? undefined : await listening(metricsPort, metrics, terminal)
  let code: number = explain('INTERNAL').exit
  let why: Failure['code'] | undefined
  const hear = (event: IngestEvent): void => {
    metrics.hear(event)
    // Only a load looks for what is missing, and it says so after this event.
    if (event.type === 'begun' && work.command === 'ingest') metrics.missing({ unreplayed: 0, gaps: 0 })
    // A run that follows its inputs does not end for months.
    if (follow && event.type === 'progress') ended.succeeded()
  }
  const loading: Measuring['loading'] = async load => {
    const receipt = await load().catch((error: unknown) => {
      why = codeIn(error)
      throw error
    })
    why = receipt.failure?.code
    return receipt
  }
  try {
    code = await run({ hear, loading })
    return code
  } catch (error) {
    why = codeIn(error)
    code = explain(why).exit
    throw error
  } finally {
    ended.note(code, why)
    if (path !== undefined)
      await writeTextfile(path, await metrics.text()).catch((error: unknown) => {
        const message = `cannot write the metrics to ${path}: ${diskProblem(error)}`
        tell(terminal, { level: 'warn', event: 'metrics', message })
      })
  }
}

/** Returns where metrics go. Throws SluiceError OPTION_INVALID if the command line asks for what only a receiver has. */
export function metricsAsked({ values, origins }: Effective): Pick<Settings, 'metricsTextfile' | 'metricsPort'> {
  const { metrics, metricsTextfile, metricsPort } = values
  if (metrics !== 'off' && origins.metrics === '--metrics')
    throw invalid('--metrics', `'${metrics}' is only for sluice serve. Pass a port, or a file NAME.prom`)
  return { metricsTextfile, metricsPort }
}

/** The labels of all metrics of a job. */
export function jobLabels(effective: Effective, work: Work): Readonly<Record<string, string>> {
  return { sluice_job: jobNameIn(effective, work) }
}

function codeIn(error: unknown): Failure['code'] {
  return isSluiceError(error) ? error.code : 'INTERNAL'
}

function endOf(metrics: RunMetrics) {
  const lastSuccess = metrics.gauge(
    'last_success_timestamp_seconds',
    'When a run last ended with exit code 0, or when a run with --follow last loaded documents.',
  )
  const runs = metrics.counter('runs_total', 'Runs by exit code.', ['exit_code'])
  const lastRun = metrics.gauge('last_run_timestamp_seconds', 'When the last run ended.')
  const lastDuration = metrics.gauge('last_run_duration_seconds', 'Duration of the last run.')
  const lastCode = metrics.gauge('last_run_exit_code', 'Exit code of the last run.')
  const lastFailure = metrics.gauge('last_run_failure', '1, with the failure code of the last run.', ['code'])
  const succeeded = (): void => lastSuccess.set(Date.now() / 1000)
  return {
    succeeded,
    note(code: number, why: Failure['code'] | undefined): void {
      if (code === 0) succeeded()
      runs.inc({ exit_code: code })
      lastRun.set(Date.now() / 1000)
      lastDuration.set(performance.now() / 1000)
      lastCode.set(code)
      if (why !== undefined) lastFailure.set({ code: why }, 1)
    },
  }
}

async function listening(port: string, metrics: RunMetrics, terminal: Terminal): Promise<AsyncDisposable> {
  const { METRICS_TYPE } = await import('../../features/metrics/run-metrics.js')
  return await listenForMetrics(port, { type: METRICS_TYPE, text: async () => await metrics.text() }, terminal)
}

/** Answers scrapes on a port of its own. Throws SluiceError OPTION_INVALID if it cannot be used. */
export async function listenForMetrics(
  port: string,
  { type, text }: { readonly type: string; text(): Promise<string> },
  terminal: Terminal,
): Promise<AsyncDisposable> {
  const { startMetricsServer } = await import('./show-metrics.js')
  const address = listenAddressIn(port)
  if (address === undefined) throw invalid('--metrics', `'${port}' is not a port`)
  const server = await startMetricsServer(address, type, text).catch((error: unknown) => {
    const problem = listenProblem(error)
    throw problem === undefined ? error : invalid('--metrics', `'${port}' ${problem}`)
  })
  tell(terminal, { level: 'info', event: 'metrics', message: `metrics on ${server.url}`, fields: { url: server.url } })
  return server
}
