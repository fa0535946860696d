/**
 * Saves how far deleted rows have been followed, for the next run of the same command. Ignores files that it cannot
 * read or write: then the next run looks for the same deletions again.
 */
import { basename, dirname, join } from 'node:path'
import { recallJson, rememberJson } from '../disk/json-file.js'
import type { FoundRun } from '../state/find-run.js'

const VERSION = 1

export interface FollowedDeletions {
  /** Uuid of the index, if known. The file says nothing of another index. */
  readonly index?: string
  /** The documents of all rows that were deleted before are deleted: `yyyy-MM-dd HH:mm:ss` of the platform, in UTC. */
  readonly audited?: string
  /** Tables of rows that existed. After a deletion the platform no longer tells the table of a row. */
  readonly classes?: readonly string[]
  /** When the index was last compared with the table, in ISO 8601. */
  readonly reconciled?: string
}

/** How far earlier runs of the command have followed deletions, and this one. */
export interface DeletionsSoFar {
  readonly known: FollowedDeletions
  /** Adds facts, also to the file on the disk if a checkpoint is kept. */
  add(more: FollowedDeletions): Promise<void>
}

export async function deletionsSoFar({ path: checkpoint, target, isIndexMissing }: FoundRun): Promise<DeletionsSoFar> {
  const path = checkpoint === undefined ? undefined : deletionsPath(checkpoint)
  const { indexUuid } = target
  const kept = path === undefined || isIndexMissing ? {} : await recallDeletions(path)
  const isOther = kept.index !== undefined && indexUuid !== undefined && kept.index !== indexUuid
  let known: FollowedDeletions = {
    ...(isOther ? {} : kept),
    ...(indexUuid === undefined ? {} : { index: indexUuid }),
  }
  return {
    get known() {
      return known
    },
    add: async more => {
      known = { ...known, ...more }
      if (path !== undefined) await rememberDeletions(path, known)
    },
  }
}

/** Returns a path beside the checkpoint of the command. */
export function deletionsPath(checkpoint: string): string {
  return join(dirname(dirname(checkpoint)), 'deletions', basename(checkpoint))
}

export async function recallDeletions(path: string): Promise<FollowedDeletions> {
  const { index, audited, classes, reconciled } = await recallJson(path, VERSION)
  return {
    ...(typeof index === 'string' ? { index } : {}),
    ...(typeof audited === 'string' && isTime(audited) ? { audited } : {}),
    ...(Array.isArray(classes) && classes.every(name => typeof name === 'string') ? { classes } : {}),
    ...(typeof reconciled === 'string' && !Number.isNaN(Date.parse(reconciled)) ? { reconciled } : {}),
  }
}

export async function rememberDeletions(path: string, followed: FollowedDeletions): Promise<void> {
  await rememberJson(path, VERSION, followed)
}

function isTime(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/.test(text)
}
