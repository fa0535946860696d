import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Connected, type IngestOptions, type Receipt, connect, ingest } from '../../src/index.js'
import { failureOf, newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** Dry runs that ask the cluster what it would refuse. */
export function describeRehearsal(world: () => World): void {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rehearsal-'))
  })
  afterAll(async () => await rm(folder, { recursive: true }))

  const base = () => ({ ...loadThrough(world(), world().proxy.http), preflightConnections: 1 })
  const rehearse = async (index: string, lines: readonly string[], more: Partial<IngestOptions> = {}) => {
    const source = join(folder, `${index}.ndjson`)
    await writeFile(source, lines.map(line => `${line}\n`).join(''))
    const run = ingest({ ...base(), source, index, dryRun: true, againstIndex: true, ...more })
    const { rehearsal } = await run.catch(async () => (await failureOf(run)).receipt as Receipt)
    const failed = await run.then(
      () => undefined,
      async () => await failureOf(run),
    )
    return { rehearsal, failed, source }
  }
  const ask = async (question: (client: Connected['client']) => Promise<unknown>) => {
    await using way = await connect(base())
    return await question(way.client)
  }

  const properties = { total: { type: 'long' }, note: { type: 'keyword' }, o: { type: 'object' } } as const

  describe('rehearsals', () => {
    test('group documents by shape, and name fields, counts and the first line of what would be refused', async () => {
      const index = newIndex('rehearsed')
      await ask(async client => await client.indices.create({ index, mappings: { properties } }))
      const lines = [
        ...Array.from({ length: 96 }, (_, n) => `{"total":${n},"note":"a"}`),
        '{"total":"12","note":"b","more":1234567890}',
        '{"total":"n/a","note":"c"}',
        '{"total":"n/a","note":{"a":1}}',
        '{"o":5}',
      ]
      const { rehearsal, failed, source } = await rehearse(index, lines)
      expect(failed).toMatchObject({ code: 'REHEARSAL_REFUSED', evidence: { index, refused: 3, shapes: 5 } })
      expect(rehearsal).toMatchObject({ shapes: 5, refused: 3, asked: 'cluster', notes: [] })
      expect(rehearsal?.refusals).toContainEqual(
        expect.objectContaining({ field: 'total', kind: 'text', documents: 2, first: `${source}, line 98` }),
      )
      expect(rehearsal?.refusals).toContainEqual(
        expect.objectContaining({ field: 'o', kind: 'long', documents: 1, first: `${source}, line 100` }),
      )
      expect(failed?.evidence['observed']).toContain(`total is text in 2.0% of documents, first at ${source}, line 98`)
      expect(JSON.stringify(rehearsal)).not.toContain('n/a')
      expect(await world().count(index)).toBe(0)
      const good = await rehearse(index, lines.slice(0, 97))
      expect([good.failed, good.rehearsal]).toEqual([
        undefined,
        { shapes: 2, refused: 0, asked: 'cluster', refusals: [], notes: [] },
      ])
    })

    test('see what an earlier document makes of a new field, also in an index that does not exist', async () => {
      const index = newIndex('rehearsed')
      const lines = ['{"a":1,"o":{"b":true}}', '{"a":2.5}', '{"a":"x"}', '{"o":{"b":"maybe"}}', '{"o":1}', '{"a":"7"}']
      const { rehearsal } = await rehearse(index, lines)
      expect(rehearsal).toMatchObject({ shapes: 6, refused: 3, asked: 'cluster' })
      const named = rehearsal?.refusals.map(({ field, kind }) => [field, kind])
      expect(named?.toSorted()).toEqual([
        ['a', 'text'],
        ['o', 'long'],
        ['o.b', 'text'],
      ])
      expect(rehearsal?.notes).toEqual([expect.stringContaining(`${index} does not exist yet`)])
      expect(await ask(async client => await client.indices.exists({ index }))).toBe(false)
    })

    test('say what could not be asked: the mapping, without the privilege to read it', async () => {
      const { target, ...others } = base()
      const least = { ...others, target: { ...target, apiKey: world().cluster.leastPrivilegeApiKey } }
      const index = newIndex('least-rehearsed')
      await ask(async client => await client.indices.create({ index, mappings: { properties } }))
      const lines = ['{"total":1}', '{"total":"x"}']
      const partly = await rehearse(index, lines, least)
      expect(partly.rehearsal).toMatchObject({ shapes: 2, refused: 1, asked: 'cluster' })
      expect(partly.rehearsal?.notes).toEqual([expect.stringContaining('may not read the mapping')])
    })

    test('take strict mappings, patterns of indices and the mapping that a missing index would get', async () => {
      const strict = newIndex('rehearsed')
      await ask(
        async client =>
          await client.indices.create({ index: `${strict}-a`, mappings: { dynamic: 'strict', properties } }),
      )
      const refused = await rehearse(`${strict}-a`, ['{"total":1}', '{"new":1}'])
      expect(refused.rehearsal).toMatchObject({ shapes: 2, refused: 1 })
      const named = await rehearse(strict, ['{"b":"a","new":1}', '{"b":"c","new":1}'], { index: `${strict}-{b}` })
      expect(named.rehearsal).toMatchObject({ shapes: 2, refused: 1 })
      const mapping = { properties: { total: { type: 'boolean' } } }
      const planned = await rehearse(newIndex('rehearsed'), ['{"total":1}', '{"total":true}'], { mapping })
      expect(planned.rehearsal).toMatchObject({ shapes: 2, refused: 1, refusals: [{ field: 'total', kind: 'long' }] })
    })
  })
}
