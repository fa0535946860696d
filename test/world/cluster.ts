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
  /** Absent: there is no instance of ServiceNow. */
  readonly tables?: StoryTables
  /** Counts what an index holds, past Sluice: 0 if it is missing. */
  count(index: string): Promise<number>
  /** Returns what an index holds, past Sluice: nothing if it is missing. */
  documents(index: string): Promise<readonly StoredDocument[]>
  /** Sends a request past Sluice. */
  ask(method: string, path: string, body?: string): Promise<void>
  /** Sets whom the IP filter lets in. */
  register(which: 'both' | 'none'): Promise<void>
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

export async function startLabCluster(): Promise<StoryCluster> {
  const lab = await startLab()
  const { control, line } = lab
  const { httpUrl, apiKey } = line.cluster
  return {
    env: { ...lab.env, ELASTICSEARCH_URL: httpUrl },
    tables: openTables(lab),
    count: async index => control.count(index),
    documents: async index => control.ids(index).map(id => ({ id, source: String(control.source(index, id)) })),
    ask: async (method, path, body) => {
      control.register('everyone')
      const headers = { authorization: `ApiKey ${apiKey}`, 'content-type': 'application/x-ndjson' }
      const answer = await fetch(`${httpUrl}/${path}`, { method, headers, ...(body === undefined ? {} : { body }) })
      await answer.text()
      control.register('both')
    },
    register: async which => control.register(which),
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
