/** A table of the lab's platform, and a real cluster, with a real proxy before both. */
import { readFileSync } from 'node:fs'
import { type IngestOptions, connect } from '../../src/index.js'
import type { Lab, Row } from '../../src/lab/index.js'
import type { RealWorld } from '../contracts/real-world.js'

/** Of the platform, by its address: a proxy looks names up in its own way. */
export function platformUrl({ line }: Pick<Lab, 'line'>): string {
  const url = new URL(line.servicenow.url)
  url.hostname = '127.0.0.1'
  return url.origin
}

/** What a load of a table takes, but for the index. */
export function tableOptions(
  world: RealWorld,
  { line }: Pick<Lab, 'line'>,
  table: string,
): Omit<IngestOptions, 'index'> {
  const { username, password, clientId, clientSecret } = line.servicenow
  return {
    source: `servicenow:${table}`,
    servicenow: {
      url: platformUrl({ line }),
      username,
      password,
      clientId,
      clientSecret,
      ca: readFileSync(line.cluster.caFile),
    },
    target: { url: world.cluster.url, apiKey: world.cluster.apiKey, ca: readFileSync(world.cluster.caFile) },
    proxy: { url: world.proxy.https, ca: readFileSync(world.proxyCaFile) },
    deadLetters: false,
  }
}

export interface Compared {
  readonly missing: number
  /** Documents of no row. */
  readonly foreign: number
  /** Rows of which a field is another one in the index. */
  readonly altered: number
}

/** Every document of the index against the rows of the table. */
export async function compareTable(world: RealWorld, index: string, rows: readonly Row[]): Promise<Compared> {
  const { cluster, proxy, proxyCaFile } = world
  const { username, password } = cluster
  await using way = await connect({
    target: { url: cluster.url, username, password, ca: readFileSync(cluster.caFile) },
    proxy: { url: proxy.https, ca: readFileSync(proxyCaFile) },
  })
  const left = new Map(rows.map(row => [row['sys_id'], row]))
  let foreign = 0
  let altered = 0
  await way.client.indices.refresh({ index })
  const { id } = await way.client.openPointInTime({ index, keep_alive: '5m' })
  for (let after: unknown[] | undefined; ;) {
    const { hits } = await way.client.search<Record<string, string>>({
      pit: { id, keep_alive: '5m' },
      size: 5000,
      sort: ['_shard_doc'],
      track_total_hits: false,
      ...(after === undefined ? {} : { search_after: after as string[] }),
    })
    for (const { _id: found = '', _source: source = {} } of hits.hits) {
      const row = left.get(found)
      if (row === undefined) foreign += 1
      else if (Object.entries(row).some(([field, value]) => source[field] !== value)) altered += 1
      left.delete(found)
    }
    after = hits.hits.at(-1)?.sort
    if (after === undefined) break
  }
  await way.client.closePointInTime({ id })
  return { missing: left.size, foreign, altered }
}
