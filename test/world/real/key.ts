/** The API key of a story: the cluster may revoke it, limit it, or get a new one. */
import type { RealWorld } from '../../contracts/real-world.js'
import type { StoryCluster } from '../cluster.js'

type StoryKey = Pick<StoryCluster, 'revokeKey' | 'newKey' | 'limitKey'> & { readonly value: string }

const role = (names: string, privileges: readonly string[]) => ({
  sluice: { cluster: ['monitor'], indices: [{ names: [names], privileges }] },
})

const limits = {
  'no writing': role('*', ['read', 'view_index_metadata']),
  'other indices': role('others-*', ['all']),
  none: role('*', ['all']),
}

export function keyOf({ cluster, ask }: RealWorld): StoryKey {
  let apiKey = cluster.apiKey
  const idOf = () => Buffer.from(apiKey, 'base64').toString().split(':')[0] ?? ''
  const change = async (method: string, path: string, body: object): Promise<string> => {
    const { status, text } = await ask(method, path, body)
    if (status !== 200) throw new Error(`${method} ${path} has status ${status}: ${text}`)
    return text
  }
  return {
    get value() {
      return apiKey
    },
    revokeKey: async () => void (await change('DELETE', '/_security/api_key', { ids: [idOf()] })),
    newKey: async () => {
      const body = { name: 'sluice', role_descriptors: limits.none }
      const { encoded } = JSON.parse(await change('POST', '/_security/api_key', body)) as { readonly encoded: string }
      apiKey = encoded
      return { ELASTICSEARCH_API_KEY: apiKey }
    },
    limitKey: async limit =>
      void (await change('PUT', `/_security/api_key/${idOf()}`, { role_descriptors: limits[limit] })),
  }
}
