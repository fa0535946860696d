/** Causes that a real Elasticsearch has: keys, privileges, indices, pipelines. */
import { type IngestOptions, ingest } from '../../src/index.js'
import { documents, newIndex, through } from '../contracts/options.js'
import type { RealWorld } from '../contracts/real-world.js'
import { stopped } from './ask.js'
import type { Cause } from './cause.js'
import { doctor } from './ways.js'

const ingestInto = (world: RealWorld, index: string, more: Partial<IngestOptions> = {}): IngestOptions => ({
  ...through(world, world.proxy.http),
  preflightConnections: 1,
  source: documents(20),
  index,
  ...more,
})

interface NewKey {
  readonly id: string
  readonly encoded: string
}

async function newKey(world: RealWorld, body: object): Promise<NewKey> {
  const { status, text } = await world.ask('POST', '/_security/api_key?refresh=true', { name: 'planted', ...body })
  if (status !== 200) throw new Error(`no API key: ${status} ${text}`)
  return JSON.parse(text) as NewKey
}

export const realClusterCauses: readonly Cause<RealWorld>[] = [
  {
    planted: 'an API key that may create documents, and a load that overwrites them (--op index)',
    on: 'Elasticsearch',
    expected: 'CLUSTER_PRIVILEGE_MISSING',
    says: 'lack index',
    plant: world =>
      doctor(world, { index: newIndex('least'), op: 'index' }, { apiKey: world.cluster.leastPrivilegeApiKey }),
  },
  {
    planted: 'an API key that has expired',
    on: 'Elasticsearch',
    expected: 'CLUSTER_AUTH_REJECTED',
    says: 'expired',
    plant: async world => doctor(world, {}, { apiKey: (await newKey(world, { expiration: '1ms' })).encoded }),
  },
  {
    planted: 'an API key that was revoked',
    on: 'Elasticsearch',
    expected: 'CLUSTER_AUTH_REJECTED',
    says: 'invalidated',
    plant: async world => {
      const { id, encoded } = await newKey(world, {})
      await world.ask('DELETE', '/_security/api_key', { ids: [id] })
      return doctor(world, {}, { apiKey: encoded })
    },
  },
  {
    planted: 'an API key that may write to the index, and not make it',
    on: 'Elasticsearch',
    expected: 'CLUSTER_PRIVILEGE_MISSING',
    says: 'lack auto_configure',
    plant: async world => {
      const index = newIndex('unmade')
      const indices = [{ names: ['*'], privileges: ['create_doc', 'view_index_metadata'] }]
      const { encoded } = await newKey(world, { role_descriptors: { planted: { indices } } })
      return doctor(world, { index }, { apiKey: encoded })
    },
  },
  {
    planted: 'an index that is closed (--write-check)',
    on: 'Elasticsearch',
    expected: 'INDEX_REQUEST_REFUSED',
    says: 'index_closed_exception',
    plant: async world => {
      const index = newIndex('closed')
      await world.ask('PUT', `/${index}`)
      await world.ask('POST', `/${index}/_close`)
      return doctor(world, { index, writeCheck: true })
    },
  },
  {
    planted: 'an index that takes no writes, found by a load',
    on: 'Elasticsearch',
    expected: 'INDEX_BLOCKED',
    alike: 'block',
    plant: async world => {
      const index = newIndex('blocked')
      await world.ask('PUT', `/${index}`, { settings: { 'index.blocks.write': true } })
      return { by: 'ingest', run: async () => await stopped(ingest(ingestInto(world, index))) }
    },
  },
  {
    planted: 'a pipeline that does not exist',
    on: 'Elasticsearch',
    expected: 'REQUEST_REFUSED',
    says: 'pipeline with id [geo] does not exist',
    plant: world => ({
      by: 'ingest',
      run: async () => await stopped(ingest(ingestInto(world, newIndex(), { pipeline: 'geo' }))),
    }),
  },
  {
    planted: 'a cluster with as many shards as it allows',
    on: 'Elasticsearch',
    expected: 'REQUEST_REFUSED',
    says: 'maximum normal shards open',
    plant: async (world, owner) => {
      const limit = async (shards: number | null) =>
        await world.ask('PUT', '/_cluster/settings', { persistent: { 'cluster.max_shards_per_node': shards } })
      await limit(1)
      await owner.own(Promise.resolve({ [Symbol.asyncDispose]: async () => void (await limit(null)) }))
      await world.ask('PUT', `/${newIndex('full')}`)
      return { by: 'ingest', run: async () => await stopped(ingest(ingestInto(world, newIndex('one-more')))) }
    },
  },
  {
    planted: 'an API key without any privilege on the index, found by a load',
    on: 'Elasticsearch',
    expected: 'CLUSTER_PRIVILEGE_MISSING',
    plant: world => {
      const options = ingestInto(world, newIndex('other'))
      const target = { ...options.target, apiKey: world.cluster.leastPrivilegeApiKey }
      return { by: 'ingest', run: async () => await stopped(ingest({ ...options, target })) }
    },
  },
  {
    planted: 'a mapping that does not fit the documents, and --max-rejected 0',
    on: 'Elasticsearch',
    expected: 'TOO_MANY_REJECTED',
    plant: async world => {
      const index = newIndex('mapped')
      await world.ask('PUT', `/${index}`, { mappings: { properties: { message: { type: 'long' } } } })
      return { by: 'ingest', run: async () => await stopped(ingest(ingestInto(world, index, { maxRejected: 0 }))) }
    },
  },
]
