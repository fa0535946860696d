import { open } from 'node:fs/promises'
import { readLetters } from '../bulk/read-letters.js'
import { type Wanted, findDocuments } from '../cluster/find-documents.js'
import type { Cluster } from '../cluster/open-cluster.js'
import { SluiceError } from '../failure/sluice-error.js'
import { systemClock } from '../time/system-clock.js'

const IDS_AT_ONCE = 500

/**
 * Returns how many rejected documents of a load are in its index now, because a replay stored them. Looks up the ids
 * in the dead letters. Returns 0 if that file is gone or has no ids. Throws SluiceError if the cluster does not
 * answer.
 */
export async function countReplayed(cluster: Cluster, index: string, deadLetters: string): Promise<number> {
  const file = await open(deadLetters).catch(() => undefined)
  if (file === undefined) return 0
  const found = new Set<string>()
  let wanted: Wanted[] = []
  for await (const letter of readLetters(deadLetters, file.createReadStream(), systemClock)) {
    if ('problem' in letter || letter.destination.index !== index || letter.id === undefined) continue
    // Another document has its id.
    if (letter.status === 409) continue
    const { id, routing } = letter
    wanted.push({ id, ...(routing === undefined ? {} : { routing }) })
    if (wanted.length < IDS_AT_ONCE) continue
    for (const one of await idsIn(cluster, index, wanted)) found.add(one)
    wanted = []
  }
  if (wanted.length > 0) for (const one of await idsIn(cluster, index, wanted)) found.add(one)
  return found.size
}

async function idsIn(cluster: Cluster, index: string, wanted: readonly Wanted[]): Promise<string[]> {
  const looked = await findDocuments(cluster, { index, by: 'id', wanted })
  if (looked.kind !== 'found') throw new SluiceError(looked.failure)
  return looked.documents.map(({ id }) => id)
}
