/** The metrics of a worker: on a port while it works, and in a file for node_exporter that is written again and again. */
import { diskProblem } from '../../base/disk/safe-files.js'
import type { WorkerMetrics } from '../../features/metrics/run-metrics.js'
import type { Effective } from '../settings/resolve.js'
import { listenForMetrics, metricsAsked } from './open-metrics.js'
import type { WorkerEvent } from './open-queue.js'
import { tell } from '../terminal/log.js'
import type { Terminal } from '../terminal/terminal.js'

/** Time between two writes of the file, in milliseconds. */
const WRITE_MS = 15_000

/** Works with the metrics that the options ask for. Throws SluiceError OPTION_INVALID if file or port cannot be used. */
export async function measuredWorker<T>(
  effective: Effective,
  terminal: Terminal,
  work: (hear: ((event: WorkerEvent) => void) | undefined) => Promise<T>,
): Promise<T> {
  const { metricsTextfile: path, metricsPort: port } = metricsAsked(effective)
  if (path === undefined && port === undefined) return await work(undefined)
  const [{ METRICS_TYPE, WorkerMetrics: Metrics }, { checkTextfile, replaceTextfile }] = await Promise.all([
    import('../../features/metrics/run-metrics.js'),
    import('./show-metrics.js'),
  ])
  if (path !== undefined) await checkTextfile(path)
  const metrics = new Metrics()
  const page = { type: METRICS_TYPE, text: async () => await metrics.text() }
  await using _ = port === undefined ? undefined : await listenForMetrics(port, page, terminal)
  const write = async () => {
    if (path === undefined) return
    await replaceTextfile(path, await metrics.text()).catch((error: unknown) => {
      const message = `cannot write the metrics to ${path}: ${diskProblem(error)}`
      tell(terminal, { level: 'warn', event: 'metrics', message })
    })
  }
  const timer = setInterval(() => void write(), WRITE_MS)
  try {
    return await work(event => count(metrics, event))
  } finally {
    clearInterval(timer)
    await write()
  }
}

function count(metrics: WorkerMetrics, event: WorkerEvent): void {
  switch (event.type) {
    case 'took':
      return metrics.began(event.job, event.range)
    case 'heard':
      return metrics.hear(event.job, event.range, event.event)
    case 'range':
    case 'failed': {
      const { counts, bytes } = event.receipt
      const outcome = event.type === 'range' ? 'loaded' : 'failed'
      return metrics.ended(event.job, event.range, outcome, { counts, bytesRead: bytes.read })
    }
    case 'returned':
      return metrics.ended(event.job, event.range, 'returned')
    case 'standing':
      return metrics.stands(event.job, event)
    default:
  }
}
