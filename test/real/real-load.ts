/** Loads into real servers: what the command needs to reach them, and what they hold afterwards. */
import { readFile } from 'node:fs/promises'
import { connect } from '../../src/index.js'
import type { RealWorld } from '../contracts/real-world.js'

/** Returns the environment of a command that loads through the proxy. */
export function environmentOf({ cluster, proxy, staticIps, proxyCaFile }: RealWorld) {
  return {
    STATIC_PROXY_URL: proxy.https,
    STATIC_IPS: staticIps.join(','),
    ELASTICSEARCH_URL: cluster.url,
    ELASTICSEARCH_API_KEY: cluster.apiKey,
    SLUICE_CA: cluster.caFile,
    SLUICE_PROXY_CA: proxyCaFile,
  }
}

/** Compares an index with the documents 0 to `documents - 1`. Each is `lineOf` its number `n`, which is one of its fields. */
export async function compare(
  { cluster, proxy, proxyCaFile }: RealWorld,
  index: string,
  documents: number,
  lineOf: (n: number) => string,
): Promise<{ readonly missing: number; readonly doubled: number; readonly altered: number }> {
  const { url, username, password, caFile } = cluster
  const way = await connect({
    target: { url, username, password, ca: await readFile(caFile) },
    proxy: { url: proxy.https, ca: await readFile(proxyCaFile) },
  })
  const seen = new Uint8Array(documents)
  let altered = 0
  try {
    await way.client.indices.refresh({ index })
    const { id } = await way.client.openPointInTime({ index, keep_alive: '5m' })
    for (let after: unknown[] | undefined; ;) {
      const { hits } = await way.client.search<{ n: number }>({
        pit: { id, keep_alive: '5m' },
        size: 10_000,
        sort: ['_shard_doc'],
        track_total_hits: false,
        ...(after === undefined ? {} : { search_after: after as string[] }),
      })
      for (const { _source: source } of hits.hits) {
        const n = source?.n ?? -1
        if (JSON.stringify(source) !== lineOf(n)) altered += 1
        else seen[n] = (seen[n] ?? 0) + 1
      }
      after = hits.hits.at(-1)?.sort
      if (after === undefined) break
    }
    await way.client.closePointInTime({ id })
  } finally {
    await way.close()
  }
  return { missing: seen.filter(times => times === 0).length, doubled: seen.filter(times => times > 1).length, altered }
}
