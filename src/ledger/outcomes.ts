import type { Counts } from './receipt.js'

/** What becomes of documents, in the order in which people read it: together they are those that were read. */
export const outcomes = [
  'created',
  'updated',
  'deleted',
  'noop',
  'duplicate',
  'rejected',
  'skipped',
  'unsent',
  'unknown',
] as const satisfies readonly Exclude<keyof Counts, 'read'>[]
