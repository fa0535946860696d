/** Documents of rows whose deletion the platform has noted. */
import { refresh } from '../cluster/indices.js'
import { addClassesOf, readDeletions } from '../servicenow/deletions/audited-deletions.js'
import type { Instance } from '../servicenow/instance.js'
import { type Removed, removeGone, type Removing } from './remove-gone.js'

export interface Auditing {
  readonly removing: Pick<Removing, 'cluster' | 'index' | 'by' | 'step' | 'there'>
  readonly instance: Instance
  /** Table names under which the platform records deletions. Absent: any. */
  readonly noted: readonly string[] | undefined
  /** `yyyy-MM-dd HH:mm:ss`, in UTC. Absent: all recorded deletions. */
  readonly since: string | undefined
  readonly signal: AbortSignal
  /** Called with the number of further deletions, before Sluice looks for their documents. */
  compared(deletions: number): void
}

/** Documents that are looked up and deleted at once. */
const PAGE = 500

/**
 * Resolves, once all of them are deleted, to the time from which on the next run has to look. Throws SluiceError SERVICENOW_*, and as
 * `removeGone` does. May be repeated.
 */
export async function deleteAudited(auditing: Auditing, removed: Removed): Promise<string> {
  const { removing, instance, noted, since, signal, compared } = auditing
  const all = { ...removing, fields: [], isMeant: () => true }
  const deletions = readDeletions(instance, { tables: noted, since, signal })
  if (all.by === 'search') await refresh(all.cluster, all.index)
  for await (const ids of deletions.ids) {
    compared(ids.length)
    for (let at = 0; at < ids.length; at += PAGE) await removeGone(ids.slice(at, at + PAGE), all, removed)
  }
  return deletions.next()
}

/**
 * Returns the loaded tables and the tables that extend them. `known`: tables that had rows. Undefined: any table may
 * be one of them. Throws SluiceError SERVICENOW_*.
 */
export async function notedUnder(
  instance: Instance,
  tables: readonly string[],
  known: readonly string[],
  signal: AbortSignal,
): Promise<string[] | undefined> {
  const noted = new Set([...tables, ...known])
  for (const table of tables) if (!(await addClassesOf(instance, table, noted, signal))) return undefined
  return [...noted]
}
