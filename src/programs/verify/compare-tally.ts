/** Counts what a comparison of two clusters found, and keeps the first ids of each kind. */

import type { ComparedCounts, ComparedInput } from './verify-options.js'

/** What a document is. Only `missing` and `different` are differences: for all others, the run says why. */
export type Compared = 'equal' | 'rejected' | 'missing' | 'different' | 'unread'

/** `most`: ids to keep of each kind. */
export function comparedInput(name: string, most: number) {
  const counts = { documents: 0, equal: 0, rejected: 0, missing: 0, different: 0, unread: 0 }
  const ids = { missing: firstIds(most), different: firstIds(most), unread: firstIds(most) }
  return {
    add: (id: string, outcome: Compared) => {
      counts.documents += 1
      counts[outcome] += 1
      if (outcome !== 'equal' && outcome !== 'rejected') ids[outcome].add(id)
    },
    result: (): ComparedInput => ({
      name,
      ...counts,
      missingIds: ids.missing.list,
      differentIds: ids.different.list,
      unreadIds: ids.unread.list,
    }),
  }
}

/** Adds up the counts of all inputs. */
export function sumOfCounts(inputs: readonly ComparedCounts[]): ComparedCounts {
  const sum = (name: keyof ComparedCounts) => inputs.reduce((total, input) => total + input[name], 0)
  return {
    documents: sum('documents'),
    equal: sum('equal'),
    rejected: sum('rejected'),
    missing: sum('missing'),
    different: sum('different'),
    unread: sum('unread'),
  }
}

/** Keeps the first ids that it hears, and counts all. */
export function firstIds(most: number) {
  const list: string[] = []
  let count = 0
  return {
    list,
    get count() {
      return count
    },
    add: (id: string) => {
      count += 1
      if (list.length < most) list.push(id)
    },
  }
}
