/** Puts the ranges of a plan on the queue, page by page, so that workers begin before the plan is whole. Holds one page at a time. */
import type { Queue } from 'bullmq'
import type { Planned, RangeData } from '../job.js'
import type { KnownRanges } from './known-ranges.js'
import type { PlannedRange } from './plan-ranges.js'

/** A page ends at either of these: a range may hold one input or a thousand. */
const PAGE_RANGES = 500
const PAGE_INPUTS = 10_000
/** How often a range is tried before it counts as failed. */
const ATTEMPTS = 8

interface Queueing {
  readonly ranges: Queue<RangeData>
  /** The index that the job fills. */
  readonly index: string
  /** Learns of each range of the plan. */
  readonly known: Pick<KnownRanges, 'contains'>
  /** Signs the content of a range, if the job has a key. */
  sealed(id: string, data: RangeData): RangeData
  /** Repeats work on the queue until it succeeds. */
  patient<T>(work: () => Promise<T>): Promise<T>
  /** Hears what is planned so far, after each page. Returns whether to continue. */
  queued(soFar: Planned): Promise<boolean>
}

/** Returns what is planned. */
export async function queueRanges(plan: AsyncIterable<PlannedRange>, given: Queueing): Promise<Planned> {
  const { ranges, known, patient, queued } = given
  let total: Planned = { objects: 0, ranges: 0, bytes: 0 }
  let page: PlannedRange[] = []
  let inputs = 0
  const put = async () => {
    const jobs = page.map(range => jobOf(range, given))
    await patient(async () => await ranges.addBulk(jobs))
    page = []
    inputs = 0
  }
  for await (const range of plan) {
    const { objects, bytes } = total
    total = { objects: objects + range.begins, ranges: total.ranges + 1, bytes: bytes + range.bytes }
    page.push(range)
    known.contains(range.id)
    inputs += range.inputs.length
    if (page.length < PAGE_RANGES && inputs < PAGE_INPUTS) continue
    await put()
    if (!(await queued(total))) return total
  }
  if (page.length > 0) await put()
  return total
}

function jobOf({ id, source, inputs }: PlannedRange, { index, sealed }: Queueing) {
  const options = { jobId: id, attempts: ATTEMPTS, backoff: { type: 'exponential', delay: 1000, jitter: 0.5 } }
  return { name: 'range', data: sealed(id, { source, inputs, index }), opts: options }
}
