import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'
import { type FromOptions, type IngestEvent, type IngestOptions, connect, ingest } from '../../src/index.js'
import { newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

export type Document = readonly [id: string, source: string]

/** Moves an index of a world into another one of the same cluster, over the same proxy. Each test has its own names. */
export function moving(world: () => World) {
  let folder = ''
  let index = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'move-'))
    index = newIndex('moved')
  })
  afterEach(async () => await rm(folder, { recursive: true }))

  const way = () => ({ ...loadThrough(world(), world().proxy.http), preflightConnections: 1 })
  const from = (): FromOptions => {
    const { target, proxy } = way()
    return { url: target.url, apiKey: target.apiKey, ca: target.ca, proxy: proxy.url }
  }
  /** Sends a request past Sluice. `isUser`: with more privileges than the API key has. */
  async function request(method: string, path: string, body?: object | string, isUser = false): Promise<unknown> {
    const { username, password } = world().cluster
    const { target, ...rest } = way()
    const login = isUser ? { target: { ...target, apiKey: undefined, username, password } } : { target }
    await using direct = await connect({ ...rest, ...login })
    const sent = typeof body === 'string' ? { bulkBody: body } : body === undefined ? {} : { body }
    const type = typeof body === 'string' ? 'application/x-ndjson' : 'application/json'
    const headers = { 'content-type': type, accept: 'application/json' }
    return await direct.client.transport.request({ method, path, ...sent }, { headers })
  }
  return {
    way,
    from,
    request,
    /** The target. */
    index: () => index,
    /** The index that is read. */
    old: () => `${index}-old`,
    path: (name: string) => join(folder, name),
    make: async (body: object = {}, name = `${index}-old`) => await request('PUT', `/${name}`, body),
    move: async (more: Partial<IngestOptions> = {}) =>
      await ingest({
        ...way(),
        source: `elasticsearch:${index}-old`,
        from: from(),
        index,
        stateDir: join(folder, 'state'),
        deadLetters: join(folder, 'dead.ndjson'),
        ...more,
      }),
    /** Stores documents, byte for byte. */
    store: async (documents: readonly Document[], more: object = {}, name = `${index}-old`) => {
      const lines = documents.map(([_id, source]) => `${JSON.stringify({ index: { _id, ...more } })}\n${source}\n`)
      const answer = await request('POST', `/${name}/_bulk?refresh=true`, lines.join(''))
      expect(answer).toMatchObject({ errors: false })
    },
    /** Calls with the messages of one kind of event. */
    hearing: (type: 'warning' | 'mapping', messages: string[]) => (event: IngestEvent) => {
      if (event.type === type && 'message' in event) messages.push(event.message)
    },
  }
}

export function many(count: number, first = 1): Document[] {
  return Array.from({ length: count }, (_, at) => [`id-${first + at}`, `{"n":${first + at}}`] as const)
}
