/** Reads the ranges of a job that have ended, page by page, in the order of their ends. Holds one page at a time. */
import type { Job, Queue } from 'bullmq'
import type { RangeData } from '../job.js'

/** Ranges of the first page, and of any. A range comes with its inputs, of which it may have one or a thousand. */
const FIRST = 20
const MOST = 500
/** Inputs of a page. */
const INPUTS = 20_000

interface Reading {
  readonly ranges: Queue<RangeData>
  readonly state: 'completed' | 'failed'
  /** Number of the first one that is wanted. */
  readonly from?: number
  /** Repeats work on the queue until it succeeds. */
  patient<T>(work: () => Promise<T>): Promise<T>
}

export async function* endedRanges({ ranges, state, from = 0, patient }: Reading): AsyncGenerator<readonly Job[]> {
  let wanted = FIRST
  for (let at = from; ;) {
    const first = at
    const page = await patient(async () => await ranges.getJobs([state], first, first + wanted - 1, true))
    if (page.length > 0) yield page
    if (page.length < wanted) return
    at += page.length
    const inputs = page.reduce((sum, { data }) => sum + inputsOf(data), 0)
    wanted = Math.max(FIRST, Math.min(MOST, Math.floor((INPUTS * page.length) / Math.max(1, inputs))))
  }
}

/** Others may have written the range. */
function inputsOf(data: unknown): number {
  const inputs = (data as Partial<RangeData> | null)?.inputs
  return Array.isArray(inputs) ? inputs.length : 1
}
