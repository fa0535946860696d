/**
 * How far deleted rows have been followed, for the next run of the same command. What cannot be read is as if it were not there, and
 * what cannot be written is left: then what was deleted is looked for once more.
 */
import { basename, dirname, join } from 'node:path'
import { recallJson, rememberJson } from '../disk/json-file.js'
import type { FoundRun } from '../state/find-run.js'

const VERSION = 1

export interface FollowedDeletions {
  /** Uuid of the index, where it was known: of another one nothing is known. */
  readonly index?: string
  /** The documents of all rows that were deleted before are deleted: `yyyy-MM-dd HH:mm:ss` of the platform, in UTC. */
  readonly audited?: string
  /** Of rows that there were: of those that are gone none is left to tell. */
  readonly classes?: readonly string[]
  /** When the index was last compared with the table, in ISO 8601. */
  readonly reconciled?: string
}

/** How far earlier runs of the command have followed deletions, and this one. */
export interface DeletionsSoFar {
  readonly known: FollowedDeletions
  /** Adds to it, also on the disk where a checkpoint is kept. */
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

/** Beside the checkpoint of the command. */
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
