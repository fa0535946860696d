/**
 * Names the job of a command that begins a new load each time (`--again`, `--swap-alias`): by its open job, or if it has none, by a new name
 * on which all processes with this command agree. Each name stands on a queue of its own, under the name before it. The first one to write
 * it there chooses it. No process removes it, so no name comes twice.
 */
import type { Job, Queue } from 'bullmq'
import { keyOf, newRunId } from '../../../base/checksum/tokens.js'
import { runId } from '../../../options/option-checks.js'
import { SluiceError } from '../../../base/failure/failure.js'
import type { JobData } from '../job.js'
import { malformed } from '../queue/check-entry.js'
import type { Seal } from '../queue/seal.js'
import { wrongSignature } from '../queue/trust-job.js'
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
  const { seal } = engine
  const key = keyOfLoad(data)
  for (let place = key; ;) {
    await names.add('name', seal.sign('name', [place], { name: wanted }), { jobId: place })
    const { name } = nameAt(place, (await names.getJob(place)) as Job<Name> | undefined, seal) ?? { name: wanted }
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
  const place = placeAfter(key, name)
  await names.add('name', engine.seal.sign('name', [place], { name: newRunId() }), { jobId: place })
}

/** Throws SluiceError JOB_MALFORMED, JOB_SIGNATURE_WRONG: a name becomes part of the name of a folder. */
function nameAt(place: string, chosen: Job<Name> | undefined, seal: Seal): Name | undefined {
  if (chosen === undefined) return undefined
  const name = (chosen.data as Partial<Name> | null)?.name
  if (runId(name) !== undefined) throw new SluiceError(malformed(place, 'its name on the queue is no name of a job'))
  if (seal.fits('name', [place], chosen.data)) return chosen.data
  throw new SluiceError(wrongSignature(name, 'its name on the queue is not signed with the key of this process'))
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
