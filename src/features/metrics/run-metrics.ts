/** Counts what runs do, as metrics for Prometheus. The only file that knows prom-client. Loaded only if somebody asks for metrics. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Counts } from '../../pipeline/ledger/receipt.js'
import { outcomes } from '../../base/operation.js'
import type { IngestEvent, Missing } from '../../options/run-events.js'

/** From a cluster nearby to the longest time limit that people set. */
export const DURATIONS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

/** The media type of the text. */
export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE

/** Metrics of one process. Labels hold codes and names of our own only, never a text from outside. */
export class MetricSet {
  protected readonly registry = new Registry()

  /** `labels`: of every metric. */
  constructor(labels: Readonly<Record<string, string>> = {}) {
    this.registry.setDefaultLabels(labels)
  }

  /** Makes one more counter. */
  counter<T extends string = never>(name: string, help: string, labelNames: readonly T[] = []): Counter<T> {
    return new Counter({ name: `sluice_${name}`, help, labelNames: [...labelNames], registers: [this.registry] })
  }

  /** Makes one more gauge, which has no value yet: a time of 0 would be in 1970. */
  gauge<T extends string = never>(name: string, help: string, labelNames: readonly T[] = []): Gauge<T> {
    const made = new Gauge({ name: `sluice_${name}`, help, labelNames: [...labelNames], registers: [this.registry] })
    if (labelNames.length === 0) made.remove()
    return made
  }

  /** Returns all metrics as Prometheus reads them. */
  async text(): Promise<string> {
    return await this.registry.metrics()
  }
}

/** The metrics of runs. */
export class RunMetrics extends MetricSet {
  readonly #documents = this.counter('documents_total', 'Documents by outcome.', ['outcome'])
  readonly #inputBytes = this.counter('input_bytes_total', 'Decoded bytes read from inputs.')
  readonly #bytes = this.counter(
    'bytes_total',
    'Bytes of bulk requests and of their answers as they crossed the network, without headers.',
    ['direction'],
  )
  readonly #requests = this.counter(
    'requests_total',
    'Bulk requests by HTTP status of the answer. none: there was no answer.',
    ['status'],
  )
  readonly #retries = this.counter('retries_total', 'Retried bulk requests by the failure that caused it.', ['cause'])
  readonly #inFlight = this.gauge('requests_in_flight', 'Bulk requests that have no answer yet.')
  readonly #durations = new Histogram({
    name: 'sluice_request_duration_seconds',
    help: 'Time from sending a bulk request to its answer.',
    buckets: DURATIONS,
    registers: [this.registry],
  })
  readonly #waited = this.counter('access_wait_seconds_total', 'Time that loading waited because access was lost.')
  readonly #isLost = this.gauge('access_lost', '1 while loading waits for access, otherwise 0.')
  readonly #unreplayed = this.gauge(
    'unreplayed_documents',
    'Documents of the inputs that earlier runs rejected, and that are not replayed.',
  )
  readonly #gaps = this.gauge('input_gaps', 'Files that had the name of an input, and whose lines are not all loaded.')
  #read: Counts | undefined
  #bytesRead = 0
  #waitedMs = 0

  /** `labels`: of every metric. */
  constructor(labels: Readonly<Record<string, string>> = {}) {
    super(labels)
    // A series that begins at 0 shows its first increase.
    for (const outcome of outcomes) this.#documents.inc({ outcome: snake(outcome) }, 0)
    this.#inFlight.set(0)
    this.#isLost.set(0)
    for (const direction of ['sent', 'received']) this.#bytes.inc({ direction }, 0)
  }

  /** Hears an event of a run. */
  hear(event: IngestEvent): void {
    switch (event.type) {
      case 'progress':
        this.counted(event.counts)
        this.#inputBytes.inc(Math.max(0, event.bytesRead - this.#bytesRead))
        this.#bytesRead = event.bytesRead
        return
      case 'sent':
        this.#inFlight.set(event.open)
        this.#bytes.inc({ direction: 'sent' }, event.bytes)
        return
      case 'answered':
        this.#inFlight.set(event.open)
        this.#requests.inc({ status: event.status ?? 'none' })
        this.#durations.observe(event.ms / 1000)
        this.#bytes.inc({ direction: 'received' }, event.bytes)
        return
      case 'retry':
        return this.retried(event.failure.code)
      case 'blocked':
        return this.waiting(event.waitedMs)
      case 'unblocked':
        return this.recovered(event.waitedMs)
      case 'warning':
        return this.missing(event.missing ?? {})
      default:
    }
  }

  /** Takes the counts of all documents so far. */
  counted(counts: Counts): void {
    for (const outcome of outcomes)
      this.#documents.inc({ outcome: snake(outcome) }, Math.max(0, counts[outcome] - (this.#read?.[outcome] ?? 0)))
    this.#read = counts
  }

  /** Takes what is known to be missing so far. */
  missing({ unreplayed, gaps }: Missing): void {
    if (unreplayed !== undefined) this.#unreplayed.set(unreplayed)
    if (gaps !== undefined) this.#gaps.set(gaps)
  }

  retried(cause: string): void {
    this.#retries.inc({ cause })
  }

  /** Takes the duration so far of a wait for access. */
  waiting(waitedMs: number): void {
    this.#isLost.set(1)
    this.#waited.inc(Math.max(0, waitedMs - this.#waitedMs) / 1000)
    this.#waitedMs = waitedMs
  }

  /** Takes the whole duration of a wait that is over. */
  recovered(waitedMs: number): void {
    this.waiting(waitedMs)
    this.#isLost.set(0)
    this.#waitedMs = 0
  }
}

/** Writes a name as labels have it. */
export function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}
