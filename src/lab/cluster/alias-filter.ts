import type { Cluster } from './cluster.js'
import type { Json } from './query/query.js'
import type { Index } from './store.js'
import { fits } from './templates.js'

/**
 * Returns the query that a search by an expression adds for one index: that of the aliases it names. Undefined: the expression shows
 * all documents, by the name of the index or by an alias without a filter.
 */
export function aliasFilter(expression: string, index: Index, cluster: Cluster): Json | undefined {
  const filters: unknown[] = []
  for (const part of expression.split(',')) {
    const isMeant = (name: string) => part === '_all' || (part.includes('*') ? fits(name, part) : name === part)
    if (isMeant(index.name) || cluster.streams.get(part)?.includes(index) === true) return undefined
    for (const [alias, { filter }] of index.aliases) {
      if (!isMeant(alias)) continue
      if (filter === undefined) return undefined
      filters.push(filter)
    }
  }
  return filters.length === 0 ? undefined : { bool: { should: filters } }
}
