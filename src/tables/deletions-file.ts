/**
 * Remembers when an index was last compared with its tables, beside the checkpoint of the command. Ignores files that
 * it cannot read or write: then the next run compares.
 */
import { dirname, join } from 'node:path'
import { recallJson, rememberJson } from '../disk/safe-files.js'
import type { FoundRun } from '../state/find-run.js'

const VERSION = 1

export interface LastComparison {
  /** ISO 8601. Undefined: not known. */
  readonly at: string | undefined
  remember(at: string): Promise<void>
}

export async function lastComparison({ path: run, key, target, isIndexMissing }: FoundRun): Promise<LastComparison> {
  if (run === undefined) return { at: undefined, remember: async () => await Promise.resolve() }
  const path = deletionsPath(run, key)
  const { index, reconciled } = isIndexMissing ? {} : await recallJson(path, VERSION)
  const { indexUuid = index } = target
  const isSame = index === undefined || index === indexUuid
  return {
    at: isSame && isDate(reconciled) ? reconciled : undefined,
    remember: async at => await rememberJson(path, VERSION, { index: indexUuid, reconciled: at }),
  }
}

/** Returns a path in the state folder that holds the run: the same for all runs of a command. */
export function deletionsPath(run: string, key: string): string {
  return join(dirname(dirname(run)), 'deletions', `${key}.json`)
}

function isDate(text: unknown): text is string {
  return typeof text === 'string' && !Number.isNaN(Date.parse(text))
}
