/** Elasticsearch behind an IP filter, reached through a real proxy. The oracle looks at it past all of them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RealWorld } from '../../contracts/real-world.js'
import { createAuthority } from '../../support/servers/proxy-certificates.js'
import type { StoredDocument, StoryCluster } from '../cluster.js'
import { keyOf } from './key.js'
import { startRelay } from './relay.js'

interface Found {
  readonly hits: { readonly hits: readonly { readonly _id: string; readonly _source: unknown }[] }
}

export async function openRealCluster(world: RealWorld): Promise<StoryCluster> {
  const authority = await createAuthority('Story CA')
  const folder = await mkdtemp(join(tmpdir(), 'sluice-story-'))
  const caFile = join(folder, 'ca.pem')
  await writeFile(caFile, authority.cert)
  const relay = await startRelay({
    target: world.cluster.httpUrl,
    certificate: await authority.issue(['127.0.0.1']),
    closeFilter: async () => await world.register('none'),
  })
  const ask = async (method: string, path: string, body?: unknown): Promise<string | undefined> => {
    const { status, text } = await world.ask(method, `/${path}`, body)
    if (status === 404) return undefined
    if (status >= 300) throw new Error(`${method} ${path} has status ${status}: ${text}`)
    return text
  }
  await world.register('both')
  const key = keyOf(world)
  return {
    get env() {
      return {
        STATIC_PROXY_URL: world.proxy.http,
        STATIC_IPS: world.staticIps.join(','),
        IP_CHECK_URL: world.ipCheckUrl,
        ELASTICSEARCH_URL: `https://127.0.0.1:${relay.port}`,
        ELASTICSEARCH_API_KEY: key.value,
        SLUICE_CA: caFile,
      }
    },
    revokeKey: key.revokeKey,
    newKey: key.newKey,
    limitKey: key.limitKey,
    indices: async () => {
      const text = await ask('GET', '_cat/indices?format=json&h=index')
      return (JSON.parse(text ?? '[]') as { readonly index: string }[]).map(({ index }) => index)
    },
    count: async index => await world.count(index),
    documents: async index => {
      await ask('POST', `${index}/_refresh`)
      const text = await ask('GET', `${index}/_search?size=10000`)
      return text === undefined ? [] : documentsOf(JSON.parse(text) as Found)
    },
    // A command may make the index anew before the story does.
    ask: async (method, path, body) => (await world.ask(method, `/${path}`, body)).status,
    register: async which => await world.register(which),
    plant: faults => relay.faults.plant(faults),
    held: () => relay.faults.struck('hold'),
    heal: () => relay.faults.clear(),
    settle: async () => await relay.settle(),
    remove: async index => void (await ask('DELETE', index)),
    [Symbol.asyncDispose]: async () => {
      await relay[Symbol.asyncDispose]()
      await rm(folder, { recursive: true })
    },
  }
}

function documentsOf({ hits }: Found): StoredDocument[] {
  return hits.hits.map(({ _id: id, _source: source }) => ({ id, source: JSON.stringify(source) }))
}
