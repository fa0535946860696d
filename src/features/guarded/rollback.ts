import { readMark } from '../../route/cluster/indices.js'
import { readConnecting } from '../../options/read-options.js'
import { fail, SluiceError } from '../../base/failure/failure.js'
import type { ConnectOptions } from '../../options/connect-options.js'
import { name } from '../../options/option-checks.js'
import { openClusterItself } from '../../route/connect/open-target.js'

export interface RollbackOptions extends ConnectOptions {
  readonly alias: string
  /** The index that the alias will lead to. Default: the index before the load that made the current index. */
  readonly to?: string | undefined
}

export interface RolledBack {
  readonly alias: string
  /** The index that the alias led to. Sluice keeps this index. */
  readonly from: string
  readonly to: string
  readonly documents: number
}

/**
 * Switches an alias back to the previous index, in one step. Nothing else changes: the other index stays as it is.
 *
 * @throws SluiceError ROLLBACK_IMPOSSIBLE, ALIAS_CONFLICT, OPTION_INVALID, and every failure of the route to the cluster
 */
export async function rollback(options: RollbackOptions): Promise<RolledBack> {
  const { alias, to: wanted, ...way } = options
  for (const [option, value] of [
    ['alias', alias],
    ['to', wanted ?? 'the previous one'],
  ] as const) {
    const problem = name(value)
    if (problem !== undefined) throw fail('OPTION_INVALID', { option, problem })
  }
  const { cluster } = await openClusterItself(readConnecting(way), way.signal)
  try {
    const found = await cluster.indices.readAlias(alias)
    if (found.on === undefined) throw impossible(alias, 'there is no such alias')
    const from = found.on.name
    const to = wanted ?? readMark(found.on.mappings)?.previous
    if (to === undefined) throw impossible(alias, `${from} has no record of the previous index`)
    if (to === from) throw impossible(alias, `it is already on ${from}`)
    const target = (await cluster.indices.read(to)).find(index => index.name === to)
    if (target === undefined) throw impossible(alias, `there is no index ${to}`)
    if (readMark(target.mappings)?.loading === true) throw impossible(alias, `the load into ${to} has not finished`)
    const { documents } = await cluster.indices.count(to)
    await cluster.indices.switchAlias(found, to)
    return { alias, from, to, documents }
  } finally {
    await cluster.route.destroy()
  }
}

function impossible(alias: string, observed: string): SluiceError {
  return fail('ROLLBACK_IMPOSSIBLE', { alias, observed })
}

export interface AliasReceipt {
  readonly name: string
  readonly from?: string
  readonly to: string
  readonly switched: boolean
  /** Why Sluice did not switch the alias, if nothing failed. */
  readonly reason?: string
}
