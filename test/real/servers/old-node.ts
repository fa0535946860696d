/** A node of the major version before, whose index is moved. It can be killed and started again, on its port. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type Elasticsearch, startElasticsearch } from './elasticsearch.js'
import type { Owner } from './owner.js'
import { findParts, required } from './parts.js'
import { onFreePorts } from './ports.js'

export interface OldNode {
  readonly url: string
  /** Credentials stay the same after a restart. */
  readonly apiKey: string
  readonly username: string
  readonly password: string
  ask: Elasticsearch['ask']
  /** Kills the node, and starts it again with the same data. */
  restart(): Promise<void>
}

/** Throws if a part is missing. */
export async function startOldNode(owner: Owner, heap: string): Promise<OldNode> {
  const parts = findParts()
  const { home, java, version } = parts.elasticsearch[8]
  const folder = join(owner.folder, 'old-node')
  const password = randomBytes(12).toString('hex')
  const start = async (port: number) =>
    await startElasticsearch({
      home,
      java: required(java, `a JDK for Elasticsearch ${version}`),
      folder,
      heap,
      password,
      settings: { 'http.port': port },
    })
  let node = await onFreePorts(1, async ([port = 0]) => await start(port))
  const { port, username } = node
  await owner.own(Promise.resolve({ [Symbol.asyncDispose]: async () => await node[Symbol.asyncDispose]() }))
  const role_descriptors = { all: { cluster: ['all'], indices: [{ names: ['*'], privileges: ['all'] }] } }
  const { text } = await node.ask('POST', '/_security/api_key?refresh=true', { name: 'old', role_descriptors })
  return {
    url: `http://127.0.0.1:${port}`,
    apiKey: (JSON.parse(text) as { encoded: string }).encoded,
    username,
    password,
    ask: async (...asked) => await node.ask(...asked),
    async restart() {
      await node[Symbol.asyncDispose]()
      node = await start(port)
    },
  }
}
