/** What a story asks of its cluster. The lab is one cluster, and `real/` has another one of real servers. */
import { setImmediate } from 'node:timers/promises'
import { type Faults, startLab } from '../../src/lab/index.js'

import { openTables, type StoryTables } from './tables.js'

export interface StoredDocument {
  readonly id: string
  /** As the cluster keeps it. */
  readonly source: string
}

export interface StoryCluster extends AsyncDisposable {
  /** What a command needs to reach it. */
  readonly env: Readonly<Record<string, string>>
  /** Lists all indices. */
  indices(): Promise<readonly string[]>
  /** Absent: there is no instance of ServiceNow. */
  readonly tables?: StoryTables
  /** Counts what an index holds, past Sluice: 0 if it is missing. */
  count(index: string): Promise<number>
  /** Returns what an index holds, past Sluice: nothing if it is missing. */
  documents(index: string): Promise<readonly StoredDocument[]>
  /** Sends a request past Sluice. Returns the status of the answer. */
  ask(method: string, path: string, body?: string): Promise<number>
  /** Sets whom the IP filter lets in. */
  register(which: 'both' | 'first' | 'second' | 'none'): Promise<void>
  /** The cluster refuses the API key from now on. */
  revokeKey(): Promise<void>
  /** Makes a new API key. Returns what a command needs of it. */
  newKey(): Promise<Readonly<Record<string, string>>>
  /** Takes rights from the API key: that to write anywhere, or all rights of indices of stories. */
  limitKey(limit: 'no writing' | 'other indices' | 'none'): Promise<void>
  /** Plants more faults. */
  plant(faults: Faults): void
  /** Counts the requests that get no answer. */
  held(): number
  /** Takes all faults away. */
  heal(): void
  /** Resolves when nothing that a killed command has sent is stored any more. */
  settle(): Promise<void>
  /** Ends a story: its index is no longer needed. */
  remove(index: string): Promise<void>
}

const limits = {
  'no writing': { prefix: '', privileges: ['read', 'view_index_metadata'] },
  'other indices': { prefix: 'others-', privileges: ['read', 'view_index_metadata', 'create_doc', 'index', 'write'] },
  none: undefined,
}

export async function startLabCluster(): Promise<StoryCluster> {
  const lab = await startLab()
  const { control, line } = lab
  const { httpUrl, username, password } = line.cluster
  return {
    get env() {
      return { ...lab.env, ELASTICSEARCH_URL: httpUrl }
    },
    tables: openTables(lab),
    indices: async () => control.indices().map(({ name }) => name),
    count: async index => control.count(index),
    documents: async index => control.ids(index).map(id => ({ id, source: String(control.source(index, id)) })),
    ask: async (method, path, body) => {
      control.register('everyone')
      const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
      const type = path.startsWith('_bulk') ? 'application/x-ndjson' : 'application/json'
      const headers = { authorization, 'content-type': type }
      const answer = await fetch(`${httpUrl}/${path}`, { method, headers, ...(body === undefined ? {} : { body }) })
      await answer.text()
      control.register('both')
      return answer.status
    },
    register: async which => control.register(which),
    revokeKey: async () => void control.rotateApiKey(),
    newKey: async () => ({ ELASTICSEARCH_API_KEY: lab.line.cluster.apiKey }),
    limitKey: async limit => control.limitApiKey(limits[limit]),
    plant: faults => control.plant(faults),
    held: () => control.struck('hold'),
    heal: () => control.heal(),
    // What lies in sockets reaches the lab within some turns.
    settle: async () => {
      for (let turn = 0; turn < 30; turn += 1) await setImmediate()
    },
    remove: async () => undefined,
    [Symbol.asyncDispose]: async () => await lab.close(),
  }
}
