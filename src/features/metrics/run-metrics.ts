/**
 * Counts what runs and workers do, as metrics for Prometheus. The only file that knows prom-client. Loaded only if somebody asks for
 * metrics.
 */
import { Counter, Gauge, Histogram, type Metric, Registry } from 'prom-client'
import type { Counts } from '../../pipeline/ledger/receipt.js'
import { outcomes } from '../../base/operation.js'
import type { IngestEvent, Missing } from '../../options/run-events.js'

/** From a cluster nearby to the longest time limit that people set. */
const DURATIONS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

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
function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

/** The end of a range at this worker. `returned`: the range went back to the queue. */
export type RangeOutcome = 'loaded' | 'failed' | 'returned'

/** How far a job is, as its coordinator knows it. */
export interface JobProgress {
  readonly ranges: Readonly<Record<'done' | 'active' | 'waiting' | 'failed', number>>
  readonly counts: Counts
  /** Stored bytes of inputs: those of ranges that ended, and all. */
  readonly bytes: { readonly read: number; readonly total: number }
  /** Most requests at the same time now. */
  readonly limit: number
  /** Whether all workers wait for access. */
  readonly isParked: boolean
}

/** A worker may live for years, and each job has a name of its own: the series of older jobs are removed. */
const MOST_JOBS = 50

const JOB = 'sluice_job'

/** The metrics of loads, with the name of the job as label, and some of their own. */
export class WorkerMetrics extends MetricSet {
  readonly #documents = this.counter('documents_total', 'Documents of ranges that ended here, by outcome.', [
    JOB,
    'outcome',
  ])
  readonly #inputBytes = this.counter('input_bytes_total', 'Bytes read from inputs for ranges that ended here.', [JOB])
  readonly #bytes = this.counter(
    'bytes_total',
    'Bytes of bulk requests and of their answers as they crossed the network, without headers.',
    [JOB, 'direction'],
  )
  readonly #requests = this.counter('requests_total', 'Bulk requests by HTTP status of the answer. none: no answer.', [
    JOB,
    'status',
  ])
  readonly #retries = this.counter('retries_total', 'Retried bulk requests by the failure that caused it.', [
    JOB,
    'cause',
  ])
  readonly #inFlight = this.gauge('requests_in_flight', 'Bulk requests that have no answer yet.', [JOB])
  readonly #durations = new Histogram({
    name: 'sluice_request_duration_seconds',
    help: 'Time from sending a bulk request to its answer.',
    labelNames: [JOB],
    buckets: DURATIONS,
    registers: [this.registry],
  })
  readonly #isLost = this.gauge('access_lost', '1 while a range of this worker waits for access, otherwise 0.', [JOB])
  readonly #ranges = this.counter('ranges_total', 'Ranges that ended at this worker, by outcome.', [JOB, 'outcome'])
  readonly #active = this.gauge('ranges_active', 'Ranges that this worker loads now.', [JOB])
  readonly #jobRanges = this.gauge('job_ranges', 'Ranges of the whole job by state. Only at its coordinator.', [
    JOB,
    'state',
  ])
  readonly #jobDocuments = this.gauge(
    'job_documents',
    'Documents of the whole job by outcome. Only at its coordinator.',
    [JOB, 'outcome'],
  )
  readonly #jobBytes = this.gauge('job_bytes', 'Stored bytes of inputs: done and total. Only at its coordinator.', [
    JOB,
    'part',
  ])
  readonly #jobLimit = this.gauge('job_limit', 'Most bulk requests of the whole job at the same time now.', [JOB])
  readonly #jobParked = this.gauge('job_parked', '1 while the whole job waits for access, otherwise 0.', [JOB])
  /** Of each job, the ranges that are loaded now: open requests, and whether they wait for access. */
  readonly #known = new Map<string, Map<string, { open: number; isLost: boolean }>>()

  /** Takes a range from the queue. */
  began(job: string, range: string): void {
    this.#rangesOf(job).set(range, { open: 0, isLost: false })
    this.#show(job)
  }

  /** Hears an event of the loading of a range. */
  hear(job: string, range: string, event: IngestEvent): void {
    const known = this.#rangesOf(job).get(range)
    if (known === undefined) return
    const of = { [JOB]: job }
    if (event.type === 'sent') this.#bytes.inc({ ...of, direction: 'sent' }, event.bytes)
    if (event.type === 'answered') {
      this.#requests.inc({ ...of, status: event.status ?? 'none' })
      this.#durations.observe(of, event.ms / 1000)
      this.#bytes.inc({ ...of, direction: 'received' }, event.bytes)
    }
    if (event.type === 'sent' || event.type === 'answered') known.open = event.open
    if (event.type === 'retry') this.#retries.inc({ ...of, cause: event.failure.code })
    if (event.type === 'blocked') known.isLost = true
    if (event.type === 'unblocked') known.isLost = false
    this.#show(job)
  }

  /** `account`: of a range that left a receipt. */
  ended(job: string, range: string, outcome: RangeOutcome, account?: { counts: Counts; bytesRead: number }): void {
    this.#rangesOf(job).delete(range)
    this.#ranges.inc({ [JOB]: job, outcome })
    if (account !== undefined) {
      for (const one of outcomes) this.#documents.inc({ [JOB]: job, outcome: snake(one) }, account.counts[one])
      this.#inputBytes.inc({ [JOB]: job }, account.bytesRead)
    }
    this.#show(job)
  }

  /** Takes how far a job is. */
  stands(job: string, { ranges, counts, bytes, limit, isParked }: JobProgress): void {
    this.#rangesOf(job)
    const of = { [JOB]: job }
    for (const state of ['done', 'active', 'waiting', 'failed'] as const)
      this.#jobRanges.set({ ...of, state }, ranges[state])
    for (const one of outcomes) this.#jobDocuments.set({ ...of, outcome: snake(one) }, counts[one])
    this.#jobBytes.set({ ...of, part: 'done' }, bytes.read)
    this.#jobBytes.set({ ...of, part: 'total' }, bytes.total)
    this.#jobLimit.set(of, limit)
    this.#jobParked.set(of, isParked ? 1 : 0)
  }

  #show(job: string): void {
    const ranges = [...this.#rangesOf(job).values()]
    this.#active.set({ [JOB]: job }, ranges.length)
    this.#inFlight.set(
      { [JOB]: job },
      ranges.reduce((sum, { open }) => sum + open, 0),
    )
    this.#isLost.set({ [JOB]: job }, ranges.some(({ isLost }) => isLost) ? 1 : 0)
  }

  #rangesOf(job: string) {
    const known = this.#known.get(job)
    if (known !== undefined) return known
    const made = new Map<string, { open: number; isLost: boolean }>()
    this.#known.set(job, made)
    // A series that begins at 0 shows its first increase.
    for (const outcome of outcomes) this.#documents.inc({ [JOB]: job, outcome: snake(outcome) }, 0)
    for (const outcome of ['loaded', 'failed', 'returned']) this.#ranges.inc({ [JOB]: job, outcome }, 0)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MOST_JOBS && oldest !== undefined) this.#forget(oldest)
    return made
  }

  #forget(job: string): void {
    this.#known.delete(job)
    for (const metric of this.registry.getMetricsAsArray()) forgetIn(metric as unknown as Removing, job)
  }
}

/** Fields of each kind of metric. */
type Removing = Pick<Metric, 'get'> & { remove(labels: Record<string, string | number>): void }

function forgetIn(metric: Removing, job: string): void {
  void Promise.resolve(metric.get()).then(({ values }) => {
    const ofJob = values.filter(({ labels }) => (labels as Record<string, unknown>)[JOB] === job)
    for (const { labels } of ofJob) {
      const { le: _, ...rest } = labels as Record<string, string | number>
      metric.remove(rest)
    }
  })
}
