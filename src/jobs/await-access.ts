/** Tells whether a job waits if its cluster refuses a connection. */
import { explain } from '../failure/catalogue.js'
import type { Failure } from '../failure/failure.js'
import type { IngestOptions } from '../options/ingest-options.js'
import { blockWaitOf } from '../options/read-options.js'
import type { JobState } from './job-state.js'

export function isAccessFailure({ code }: Failure): boolean {
  const { stage } = explain(code)
  return stage === 'proxy' || stage === 'egress' || code === 'CLUSTER_AUTH_REJECTED'
}

/** Only a job that had access waits for it. Whoever begins a job learns at once that there is none. */
export function mayWait(onBlock: IngestOptions['onBlock'], { parked }: JobState): boolean {
  return parked !== undefined && Date.now() - Date.parse(parked.since) < blockWaitOf(onBlock)
}
