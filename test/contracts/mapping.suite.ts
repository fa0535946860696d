import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Connected, type IngestOptions, connect, ingest } from '../../src/index.js'
import { failureOf, newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** Loads with a mapping or a template: made if missing, compared if not, and never changed. */
export function describeMapping(world: () => World): void {
  const base = () => ({ ...loadThrough(world(), world().proxy.http), preflightConnections: 1 })
  // Templates are more than the API key may make.
  const asUser = () => {
    const { username, password } = world().cluster
    const { target, ...rest } = base()
    return { ...rest, target: { ...target, apiKey: undefined, username, password } }
  }
  const load = async (index: string, more: Partial<IngestOptions> = {}) =>
    await ingest({ ...asUser(), source: [{ total: 1, note: 'a' }], index, ...more })

  async function ask<T>(question: (client: Connected['client']) => Promise<T>): Promise<T> {
    const { deadLetters: _, ...way } = asUser()
    await using opened = await connect(way)
    return await question(opened.client)
  }
  const mappingOf = async (index: string) =>
    Object.values(await ask(async client => await client.indices.getMapping({ index })))[0]?.mappings

  const mapping = {
    dynamic: true,
    properties: {
      total: { type: 'double' },
      note: { type: 'text', index: true, fields: { raw: { type: 'keyword', ignore_above: '64' } } },
      at: { type: 'date', format: 'strict_date_optional_time||epoch_millis' },
      'customer.region': { type: 'keyword' },
    },
  }

  describe('loads with a mapping', () => {
    test('make a missing index, and take it again with the fields that documents added', async () => {
      const index = newIndex('mapped')
      expect(await load(index, { mapping: { mappings: mapping } })).toMatchObject({ created: 1 })
      expect(await mappingOf(index)).toMatchObject({
        properties: { total: { type: 'double' }, customer: { properties: { region: { type: 'keyword' } } } },
      })
      expect(await load(index, { mapping, source: [{ total: 2, more: true }] })).toMatchObject({ created: 1 })
      expect(await load(index, { mapping: { [index]: { mappings: mapping } } })).toMatchObject({ created: 1 })
    })

    test('stop before the first document if a field is missing or different, and name each', async () => {
      const index = newIndex('mapped')
      const live = {
        properties: { total: { type: 'text' }, note: { type: 'keyword', ignore_above: 9 }, x: { type: 'long' } },
      } as const
      await ask(async client => await client.indices.create({ index, mappings: live }))
      const seen: string[] = []
      const onEvent: IngestOptions['onEvent'] = event => {
        if (event.type === 'warning') seen.push(event.message)
      }
      const wanted = { dynamic: 'strict', properties: { ...mapping.properties, note: { type: 'keyword' } } }
      for (const dryRun of [true, false]) {
        const { code, evidence } = await failureOf(load(index, { mapping: wanted, onEvent, dryRun }))
        const differences = [
          expect.stringMatching(/^dynamic is (missing \(strict\)|true, not strict)$/) as string,
          'total is text, not double',
          'note: ignore_above is 9, and the file has none',
          'at is missing (date)',
          'customer is missing (object)',
        ]
        expect([code, evidence['what'], evidence['differences']]).toEqual([
          'MAPPING_DIFFERS',
          `the mapping of ${index}`,
          differences,
        ])
        expect(seen.splice(0)).toHaveLength(5)
      }
      expect([await mappingOf(index), await world().count(index)]).toEqual([live, 0])
    })

    test('compare the write index of an alias, and give a guarded load its mapping', async () => {
      const alias = newIndex('mapped')
      const first = await load(alias, { index: undefined, swapAlias: alias, mapping })
      expect(first).toMatchObject({ created: 1, alias: { switched: true } })
      expect(await load(alias, { mapping })).toMatchObject({ created: 1 })
      const other = { properties: { total: { type: 'long' } } }
      const refused = await failureOf(load(alias, { mapping: other }))
      expect(refused.evidence['observed']).toBe('total is double, not long')
    })

    test('with a template: make it, then compare it field by field', async () => {
      const name = newIndex('template')
      const template = {
        name,
        index_patterns: [`${name}-*`],
        priority: 300,
        template: { settings: { number_of_shards: 1, 'index.refresh_interval': '5s' }, mappings: mapping },
      }
      const index = `${name}-a`
      expect(await load(index, { template, mapping })).toMatchObject({ created: 1 })
      expect(await mappingOf(index)).toMatchObject({ properties: { total: { type: 'double' } } })
      expect(await load(index, { template })).toMatchObject({ created: 1 })
      const shown = await ask(async client => await client.indices.getIndexTemplate({ name }))
      expect(await load(index, { template: { ...shown } })).toMatchObject({ created: 1 })
      const changed = {
        ...template,
        priority: 301,
        template: { ...template.template, settings: { number_of_shards: 2 } },
      }
      const { code, evidence } = await failureOf(load(index, { template: changed }))
      expect(code).toBe('MAPPING_DIFFERS')
      expect(evidence['differences']).toEqual([
        'priority is 300, not 301',
        'template.settings.number_of_shards is 1, not 2',
        'template.settings.refresh_interval is 5s, and the file has none',
      ])
      expect(await world().count(index)).toBe(3)
    })

    test('a data stream takes its template, and its write index is tuned and compared', async () => {
      const name = newIndex('stream')
      const template = { name, index_patterns: [name], priority: 300, data_stream: {}, template: { mappings: mapping } }
      const source = [{ '@timestamp': '2026-01-01T00:00:00Z', total: 1 }]
      expect(await load(name, { template, source })).toMatchObject({ created: 1 })
      const receipt = await load(name, { template, mapping, tune: true, source })
      expect(receipt).toMatchObject({ created: 1, tuned: { restored: true } })
      expect(receipt.tuned?.index).toMatch(new RegExp(`^\\.ds-${name}-`))
      const missing = { name: newIndex('stream'), index_patterns: [`${name}-other`], data_stream: {}, priority: 300 }
      const refused = await failureOf(load(`${name}-other`, { template: missing, mapping, source }))
      expect(refused).toMatchObject({ code: 'INDEX_REQUEST_REFUSED', evidence: { status: 400 } })
    })

    test('with a mapping to infer: propose it for a missing index, and leave another one as it is', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'inferred-'))
      const index = newIndex('inferred')
      const source = join(folder, 'orders.csv')
      const rows = ['id,at,total,note', '1,24.12.2026,1.50,NA', '2,31.12.2026,NA,b', '3,,7,c']
      await writeFile(source, rows.map(row => `${row}\n`).join(''))
      const said: string[] = []
      const onEvent: IngestOptions['onEvent'] = event => {
        if (event.type === 'mapping') said.push(event.message)
      }
      const mappings = {
        properties: {
          id: { type: 'long' },
          at: { type: 'date', format: 'dd.MM.yyyy' },
          total: { type: 'double' },
          note: { type: 'keyword' },
        },
      }
      expect(await load(index, { source, mapping: 'infer', onEvent, dryRun: true })).toMatchObject({ unsent: 3 })
      expect(await load(index, { source, mapping: 'infer', onEvent })).toMatchObject({ created: 3, rejected: 0 })
      expect(await mappingOf(index)).toEqual(mappings)
      const stored = (await world().documents(index)).map(one => JSON.parse(one) as unknown)
      expect(stored).toHaveLength(3)
      expect(stored).toContainEqual({ id: 1, at: '24.12.2026', total: 1.5, note: 'NA' })
      expect(stored).toContainEqual({ id: 2, at: '31.12.2026', note: 'b' })
      await writeFile(source, `${rows.map(row => `${row}\n`).join('')}4,01.01.2027,8,d\n`)
      expect(await load(index, { source, mapping: 'infer', onEvent })).toMatchObject({ created: 4, rejected: 0 })
      expect(await mappingOf(index)).toEqual(mappings)
      expect(said).toEqual([
        `Sluice creates ${index} with id long, at date (dd.MM.yyyy), total double, note keyword`,
        `${index} exists, so its mapping stays as it is`,
      ])
      const once = await failureOf(load(newIndex('inferred'), { mapping: 'infer', source: [{ a: 1 }] }))
      expect(once.evidence['problem']).toBe("is 'infer', but (iterable) can be read only once. Save it as a file")
      const edited = await failureOf(load(index, { mapping: 'infer', source, edits: { drop: ['note'] } }))
      expect(edited.evidence['problem']).toContain('cannot be combined with options that edit documents')
      const guarded = await failureOf(load(index, { mapping: 'infer', source, index: undefined, swapAlias: index }))
      expect(guarded.evidence['problem']).toContain('has the mapping of the previous index')
      await rm(folder, { recursive: true })
    })

    test('with a mapping to infer: say which columns it keeps as text, and how to load them with types', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'inferred-'))
      const index = newIndex('inferred')
      const source = join(folder, 'orders.csv')
      await writeFile(source, 'id;Betrag (€);bezahlt\n1;1.234,50;ja\n2;12,00;nein\n')
      const said: string[] = []
      const onEvent: IngestOptions['onEvent'] = event => {
        if (event.type === 'mapping') said.push(event.message)
      }
      expect(await load(index, { source, mapping: 'infer', onEvent })).toMatchObject({ created: 2, rejected: 0 })
      expect(said).toEqual([
        `Sluice creates ${index} with id long, Betrag (€) keyword, bezahlt keyword`,
        `${index} keeps Betrag (€), bezahlt as text. For other types, delete ${index}, and load again with --again --types 'Betrag (€):double,bezahlt:boolean'`,
      ])
      const other = newIndex('inferred')
      const csv = { types: { 'Betrag (€)': 'double', bezahlt: 'boolean' } } as const
      expect(await load(other, { source, mapping: 'infer', csv })).toMatchObject({ created: 2, rejected: 0 })
      expect(await mappingOf(other)).toMatchObject({ properties: { 'Betrag (€)': { type: 'double' } } })
      expect((await world().documents(other)).map(one => JSON.parse(one) as unknown)).toContainEqual({
        id: 1,
        'Betrag (€)': 1234.5,
        bezahlt: true,
      })
      await rm(folder, { recursive: true })
    })

    test('with a mapping to infer that has very many fields: raise the limit of the new index', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'inferred-'))
      const index = newIndex('inferred')
      const source = join(folder, 'wide.ndjson')
      // Of a text, also the keyword beside it is a field.
      const fields = Array.from(
        { length: 600 },
        (_, at) => [`f${at}`, 'several words that are read as a text'] as const,
      )
      await writeFile(source, `${JSON.stringify(Object.fromEntries(fields))}\n`)
      const plain = await load(newIndex('inferred'), { source })
      expect(plain).toMatchObject({ created: 0, rejected: 1 })
      expect(plain.rejections).toMatchObject([{ reason: 'the index takes only 1000 fields' }])
      const said: string[] = []
      const onEvent: IngestOptions['onEvent'] = event => {
        if (event.type === 'mapping') said.push(event.message)
      }
      expect(await load(index, { source, mapping: 'infer', onEvent })).toMatchObject({ created: 1, rejected: 0 })
      expect(said).toContain(`${index} needs many fields, so index.mapping.total_fields.limit is 2000`)
      await rm(folder, { recursive: true })
    })

    test('without the privilege nothing is made', async () => {
      const index = newIndex('least-mapped')
      const { target, ...others } = base()
      const least = { ...others, target: { ...target, apiKey: world().cluster.leastPrivilegeApiKey } }
      const template = { name: index, index_patterns: [index] }
      for (const more of [{ mapping }, { template }])
        expect(await failureOf(ingest({ ...least, source: [{ n: 1 }], index, ...more }))).toMatchObject({
          code: 'CLUSTER_PRIVILEGE_MISSING',
        })
      expect(await world().documents(index)).toEqual([])
    })
  })
}
