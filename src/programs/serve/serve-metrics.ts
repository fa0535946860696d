/** The metrics of a receiver: those of its loads, and what callers sent. */
import type { RunMetrics } from '../../features/metrics/run-metrics.js'
import type { ServeEvent, ServeMetrics, ServeStatus } from './serve-options.js'

/** Loads the code of metrics, which few receivers need. `status`: undefined before the receiver listens. */
export async function openServeMetrics(status: () => ServeStatus | undefined): Promise<ServeMetrics> {
  const { METRICS_TYPE: type, RunMetrics: Metrics } = await import('../../features/metrics/run-metrics.js')
  const metrics = new Metrics()
  const { hear, show } = receiving(metrics)
  return {
    type,
    hear,
    text: async () => {
      const now = status()
      if (now !== undefined) show(now)
      return await metrics.text()
    },
  }
}

function receiving(metrics: RunMetrics) {
  const accepted = metrics.counter('accepted_documents_total', 'Documents that were acknowledged to callers.')
  const answers = metrics.counter('answers_total', 'Answers to callers by HTTP status.', ['status'])
  const waitingDocuments = metrics.gauge('waiting_documents', 'Acknowledged documents that are not loaded yet.')
  const waitingBytes = metrics.gauge('waiting_bytes', 'Bytes of acknowledged documents that are not loaded yet.')
  const isFull = metrics.gauge('spool_full', '1 while callers are refused because the spool is full, otherwise 0.')
  const lastSuccess = metrics.gauge('last_success_timestamp_seconds', 'When documents were last loaded completely.')
  let failingSince: number | undefined

  const hear = (event: ServeEvent): void => {
    switch (event.type) {
      case 'failed':
        failingSince ??= performance.now()
        metrics.retried(event.failure.code)
        return metrics.waiting(performance.now() - failingSince)
      case 'recovered':
        metrics.recovered(performance.now() - (failingSince ?? performance.now()))
        failingSince = undefined
        return
      case 'loaded':
        lastSuccess.set(Date.now() / 1000)
        return
      case 'listening':
      case 'found':
        return
      case 'preflight':
      case 'sent':
      case 'answered':
      case 'retry':
      case 'rejected':
      case 'warning':
        metrics.hear(event)
    }
  }

  const show = (now: ServeStatus): void => {
    metrics.counted(now.loaded)
    accepted.reset()
    accepted.inc(now.accepted)
    answers.reset()
    for (const [status, times] of Object.entries(now.answers)) answers.inc({ status }, times)
    waitingDocuments.set(now.waiting.documents)
    waitingBytes.set(now.waiting.bytes)
    isFull.set(now.state === 'full' ? 1 : 0)
  }
  return { hear, show }
}
