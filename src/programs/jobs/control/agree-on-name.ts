/**
 * Names the job of a command that begins a new load each time (`--again`, `--swap-alias`): by its open job, or if it has none, by a new name
 * on which all processes with this command agree. Each name stands on a queue of its own, under the name before it. The first one to write
 * it there chooses it. No process removes it, so no name comes twice.
 */
import type { Job, Queue } from 'bullmq'
import { keyOf, newRunId } from '../../../run/state/resume/run-identity.js'
import type { JobData } from '../job.js'
import { CONTROL, type QueueEngine } from '../queue/open-engine.js'
import { documentsOf } from '../plan/queued-options.js'

interface Name {
  readonly name: string
}

const NAMES = 'names'

export async function agreeOnName(
  engine: QueueEngine,
  wanted: string,
  data: JobData,
): Promise<{ name: string; data: JobData }> {
  const control: Queue<JobData> = engine.queue(CONTROL)
  const names: Queue<Name> = engine.queue(NAMES)
  const key = keyOfLoad(data)
  for (let place = key; ;) {
    await names.add('name', { name: wanted }, { jobId: place })
    const { name } = ((await names.getJob(place)) as Job<Name> | undefined)?.data ?? { name: wanted }
    if (name === wanted) return { name, data }
    const next = placeAfter(key, name)
    const state = await (await control.getJob(name))?.getState()
    const isGone = state === undefined && (await names.getJob(next)) !== undefined
    // The process that chose the name may add the job in a moment.
    if (!isGone && state !== 'completed' && state !== 'failed') return { name, data: renamed(data, wanted, name) }
    place = next
  }
}

/** Notes that a name is used up, although no job has it any more. */
export async function useUpName(engine: QueueEngine, name: string, data: JobData): Promise<void> {
  const names: Queue<Name> = engine.queue(NAMES)
  const key = keyOfLoad(data)
  // Other jobs have the name of their load.
  if ((await names.getJob(key)) === undefined) return
  await names.add('name', { name: newRunId() }, { jobId: placeAfter(key, name) })
}

function placeAfter(key: string, name: string): string {
  return `${key}-${name}`
}

function keyOfLoad({ url, index, sources, settings }: JobData): string {
  // The queue may return settings in another order.
  const documents = Object.entries(documentsOf(settings)).toSorted(([one], [other]) => one.localeCompare(other))
  return keyOf([url, index, sources, documents, settings['swapAlias'] ?? null])
}

/** The folder of dead letters has the name of the job, if the command does not choose it. */
function renamed(data: JobData, wanted: string, name: string): JobData {
  const { deadLetters } = data
  if (!deadLetters.endsWith(`-${wanted}`)) return data
  return { ...data, deadLetters: `${deadLetters.slice(0, -wanted.length)}${name}` }
}
