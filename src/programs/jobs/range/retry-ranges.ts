/**
 * Lets the failed ranges of a job be loaded again, except ranges of objects that were replaced or deleted after the plan. No worker can
 * load those any more, so the job plans its objects as they are now.
 */
import type { Job, Queue } from 'bullmq'
import type { RangeData } from '../job.js'
import { endOfRange, type OfJob } from './range-end.js'

/** Ranges that come from the queue in one request. */
const PAGE = 500

const gone: ReadonlySet<string> = new Set(['INPUT_CHANGED', 'INPUT_REPLACED', 'INPUT_NOT_FOUND'])

export async function retryRanges(ranges: Queue<RangeData>, of: OfJob): Promise<void> {
  await forgetReplaced(ranges, of)
  await ranges.retryJobs({ state: 'failed' })
}

async function forgetReplaced(ranges: Queue<RangeData>, of: OfJob): Promise<void> {
  for (let at = 0; ;) {
    const page = (await ranges.getJobs(['failed'], at, at + PAGE - 1, true)) as Job<RangeData>[]
    const replaced = page.filter(range => gone.has(endOfRange(range, of).failure?.code ?? ''))
    for (const range of replaced) await range.remove()
    if (page.length < PAGE) return
    at += page.length - replaced.length
  }
}
