import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { connect, ingest, undo, verify } from '../../src/index.js'
import { newIndex, loadThrough } from '../contracts/options.js'
import type { World } from '../contracts/world.js'

/** Rollovers of a real cluster, which does not keep an id from being created again behind another index of a data stream. */
export function describeDataStreams(world: () => World): void {
  const way = () => {
    const { deadLetters: _, ...rest } = loadThrough(world(), world().proxy.http)
    return { ...rest, preflightConnections: 1 }
  }

  describe.each(['data stream', 'alias'] as const)('behind a rolled over %s', kind => {
    test('a named run that is repeated without its state doubles nothing, and is verified and undone whole', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'streams-'))
      // Templates are more than the API key may make.
      const { username, password } = world().cluster
      const { target, ...rest } = way()
      await using direct = await connect({ ...rest, target: { ...target, apiKey: undefined, username, password } })
      const { client } = direct
      const name = newIndex('rolled')
      if (kind === 'data stream') {
        const template = { settings: { number_of_replicas: 0 } }
        await client.indices.putIndexTemplate({ name, index_patterns: [name], data_stream: {}, template })
      } else {
        await client.indices.create({ index: `${name}-000001`, aliases: { [name]: { is_write_index: true } } })
      }
      const path = join(folder, 'a.ndjson')
      const text = Array.from({ length: 1500 }, (_, n) => `{"@timestamp":"2026-11-21T00:00:00Z","n":${n}}\n`).join('')
      await writeFile(path, text)
      const options = { ...way(), source: path, index: name, runId: name, batchDocs: 500, deadLetters: false as const }
      expect(await ingest({ ...options, stateDir: folder })).toMatchObject({ created: 1500, rejected: 0 })
      await client.indices.rollover({ alias: name })
      const again = await ingest(options)
      expect(again).toMatchObject({ created: 0, duplicate: 1500, rejected: 0 })
      expect(again.notes).toBeUndefined()
      expect(await world().count(name)).toBe(1500)
      const run = { ...way(), run: name, stateDir: folder }
      expect(await verify(run)).toMatchObject({ ok: true, found: 1500, doubled: 0, notes: [] })
      expect(await undo(run)).toMatchObject({ isComplete: true, deleted: 1500 })
      expect(await world().count(name)).toBe(0)
      await rm(folder, { recursive: true })
    })
  })
}
