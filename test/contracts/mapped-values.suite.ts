import { expect, describe, test } from 'vitest'
import { connect } from '../../src/index.js'
import { loadThrough, newIndex } from './options.js'
import type { World } from './world.js'

type Mapped = Readonly<Record<string, unknown>>

const dated = (format: string): Mapped => ({ type: 'date', format })
const keywordBeside = { keyword: { type: 'keyword', ignore_above: 256 } }

/** Mappings that `infer` proposes, values that such a field takes, and values that it refuses. */
const rows: readonly (readonly [mapping: Mapped, taken: readonly unknown[], refused: readonly unknown[]])[] = [
  [
    { type: 'date' },
    ['2026-01-02', '2026-01-02T03:04:05Z', '2026-01', '2026', 1_735_689_600_000, '1735689600000', null],
    ['02.01.2026', '2026/01/02', '2026-13-01', '2026-02-30', '2026-01-02 03:04:05', 'n/a', '', true, {}],
  ],
  [
    dated('strict_date_optional_time'),
    ['2026-01-02T03:04:05.678+02:00', '2026-01-02T03:04'],
    [1_735_689_600_000, '02.01.2026'],
  ],
  [
    dated('dd.MM.yyyy'),
    ['24.12.2026', '01.01.1970'],
    [
      '24.12.26',
      '2026-12-24',
      '31.02.2026',
      '32.01.2026',
      '24.13.2026',
      '4.12.2026',
      '24.12.2026 08:30',
      ' 24.12.2026',
      24_122_026,
    ],
  ],
  [dated('dd.MM.yyyy HH:mm'), ['24.12.2026 08:30'], ['24.12.2026', '24.12.2026 24:00', '24.12.2026 08:60']],
  [dated('dd.MM.yyyy HH:mm:ss'), ['24.12.2026 08:30:59'], ['24.12.2026 08:30', '24.12.2026 08:30:60']],
  [dated('dd.MM.yyyy||dd.MM.yyyy HH:mm'), ['24.12.2026', '24.12.2026 08:30'], ['24.12.2026 08', '2026-12-24']],
  [dated('yyyy-MM-dd HH:mm'), ['2026-12-24 08:30'], ['2026-12-24', '2026-12-24T08:30']],
  [dated('yyyy-MM-dd HH:mm:ss'), ['2026-12-24 08:30:00'], ['2026-12-24 08:30:00.123', '2026-12-24 8:30:00']],
  [dated('yyyy-MM-dd HH:mm:ss.SSS'), ['2026-12-24 08:30:00.123'], ['2026-12-24 08:30:00.12', '2026-12-24 08:30:00']],
  [
    dated('yyyy-MM-dd HH:mm:ss.SSSSSSX'),
    ['2026-12-24 08:30:00.123456+00', '2026-12-24 08:30:00.123456+0530', '2026-12-24 08:30:00.123456Z'],
    ['2026-12-24 08:30:00.123456', '2026-12-24 08:30:00.12345+00', '2026-12-24 08:30:00.123456+05:30'],
  ],
  [dated("yyyy-MM-dd HH:mm:ss 'UTC'"), ['2026-12-24 08:30:00 UTC'], ['2026-12-24 08:30:00', '2026-12-24 08:30:00 GMT']],
  [
    dated('yyyy-MM-dd HH:mm:ss.S||yyyy-MM-dd HH:mm:ss.SSSSSSSSS'),
    ['2026-12-24 08:30:00.1'],
    ['2026-12-24 08:30:00.12'],
  ],
  [dated('yyyy/MM/dd'), ['2026/12/24'], ['2026-12-24', '2026/12/24 08:30:00']],
  [dated('yyyy/MM/dd HH:mm:ss'), ['2026/12/24 08:30:00'], ['2026/12/24']],
  [dated('dd/MM/yyyy'), ['24/12/2026'], ['12/24/2026', '24/12/26']],
  [dated('MM/dd/yyyy'), ['12/24/2026'], ['24/12/2026']],
  [dated('MM/dd/yyyy HH:mm'), ['12/24/2026 08:30'], ['12/24/2026']],
  [dated('M/d/yyyy'), ['1/2/2026', '12/24/2026', '01/02/2026'], ['1/2/26', '13/1/2026', '']],
  [dated('d.M.yyyy'), ['1.2.2026', '24.12.2026'], ['1.13.2026']],
  [
    dated('dd/MMM/yyyy:HH:mm:ss Z'),
    ['28/Jun/2019:08:30:39 +0200'],
    ['28/jun/2019:08:30:39 +0200', '28/Jun/2019:08:30:39 +02:00', '28/Jun/2019:08:30:39', '28/Foo/2019:08:30:39 +0200'],
  ],
  [
    dated('EEE, dd MMM yyyy HH:mm:ss Z'),
    ['Fri, 28 Jun 2019 08:30:39 +0200', 'Mon, 28 Jun 2019 08:30:39 +0200'],
    ['Foo, 28 Jun 2019 08:30:39 +0200', '28 Jun 2019 08:30:39 +0200'],
  ],
  [dated('yyyyMMdd'), ['20261224', 20_261_224], ['2026122', '202612240']],
  [dated('epoch_second'), [1_735_689_600, '1735689600', 1.5], ['2026-01-01']],
  [dated('epoch_millis'), [1_735_689_600_000, '1735689600000'], ['2026-01-01']],
  [{ type: 'long' }, [1, '1', -5, '12.5', 12.5, ''], ['a', true, {}, 9_223_372_036_854_775_808]],
  [{ type: 'double' }, [1.5, '1.5', '1e5', ' 1.5', ''], ['1,5', 'NaN', true, {}]],
  [{ type: 'boolean' }, [true, 'true', 'false', ''], ['ja', 1, 'True', {}]],
  [{ type: 'keyword' }, ['a', 1, true, 'x'.repeat(32_766)], [{}, 'x'.repeat(32_767), 'ä'.repeat(16_384)]],
  [{ type: 'keyword', ignore_above: 256 }, ['x'.repeat(40_000)], [{}]],
  [{ type: 'text', fields: keywordBeside }, ['a b', 1, 'x '.repeat(20_000)], [{}]],
  [
    { type: 'geo_point' },
    [
      { lat: 52.5, lon: 13.4 },
      { lat: '52.5', lon: '13.4' },
      { type: 'Point', coordinates: [13.4, 52.5] },
      [13.4, 52.5],
      [
        [13.4, 52.5],
        [9, 50],
      ],
      '52.5,13.4',
      'POINT (13.4 52.5)',
      'u33d',
      null,
    ],
    [
      { lat: 91, lon: 0 },
      { lat: 52.5 },
      { lat: 1, lon: 2, name: 'x' },
      {
        type: 'LineString',
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
      'nowhere at all',
      true,
    ],
  ],
]

/** What the types and formats take that a proposed mapping has. */
export function describeMappedValues(world: () => World): void {
  const opened = async () => {
    const { deadLetters: _, ...way } = loadThrough(world(), world().proxy.http)
    return await connect({ ...way, preflightConnections: 1 })
  }

  describe('values of mapped fields', () => {
    test.each(rows)('%j takes what it should, and no more', async (mapped, taken, refused) => {
      await using way = await opened()
      const index = newIndex('mapped-values')
      await way.client.indices.create({ index, mappings: { properties: { v: mapped } } })
      const seen = await way.client.bulk({
        index,
        operations: [...taken, ...refused].flatMap(v => [{ create: {} }, { v }]),
      })
      const found = seen.items.map(({ create }) => [create?.status, create?.error?.type])
      expect(found).toEqual([
        ...taken.map(() => [201, undefined]),
        ...refused.map(() => [400, 'document_parsing_exception']),
      ])
    })

    test('names with dots stand beside names that they begin with, if the mapping has no subobjects', async () => {
      await using way = await opened()
      const index = newIndex('mapped-values')
      const properties = { t0: { type: 'double' }, 't0.5': { type: 'double' } } as const
      await way.client.indices.create({ index, mappings: { subobjects: false, properties } })
      const operations = [{ create: {} }, { t0: 1.5, 't0.5': 2, 'a.b': 'new' }]
      const seen = await way.client.bulk({ index, refresh: true, operations })
      expect(seen.items.map(({ create }) => create?.status)).toEqual([201])
      const found = await way.client.search({ index, query: { range: { 't0.5': { gt: 1 } } } })
      expect(found.hits.hits).toHaveLength(1)
      const mapped = await way.client.indices.getMapping({ index })
      expect(mapped[index]?.mappings).toMatchObject({
        subobjects: false,
        properties: { ...properties, 'a.b': { type: 'text' } },
      })
    })

    const days = [
      ['dd.MM.yyyy', '02.01.2026', '24.12.2025', '03.02.2026'],
      ['MM/dd/yyyy HH:mm', '01/02/2026 08:30', '12/24/2025 23:00', '02/03/2026 00:00'],
      [
        'dd/MMM/yyyy:HH:mm:ss Z',
        '02/Jan/2026:00:30:00 +0200',
        '24/Dec/2025:08:30:39 +0200',
        '03/Feb/2026:00:00:00 +0000',
      ],
      ['epoch_second', 1_767_312_000, 1_766_534_400, 1_770_076_800],
    ] as const
    test.each(days)('dates of the format %s sort and search by their time', async (format, ...values) => {
      await using way = await opened()
      const index = newIndex('mapped-values')
      await way.client.indices.create({ index, mappings: { properties: { v: { type: 'date', format } } } })
      await way.client.bulk({ index, refresh: true, operations: values.flatMap(v => [{ create: {} }, { v }]) })
      const found = await way.client.search<{ v: unknown }>({ index, sort: ['v'], size: 10 })
      const [middle, first, last] = values
      expect(found.hits.hits.map(({ _source: of }) => of?.v)).toEqual([first, middle, last])
      expect(found.hits.hits.map(({ sort }) => typeof sort?.[0])).toEqual(['number', 'number', 'number'])
      const later = await way.client.search<{ v: unknown }>({ index, query: { range: { v: { gt: String(middle) } } } })
      expect(later.hits.hits.map(({ _source: of }) => of?.v)).toEqual([last])
    })

    test('a date that names its format by a slash keeps it', async () => {
      await using way = await opened()
      const index = newIndex('mapped-values')
      const seen = await way.client.bulk({
        index,
        operations: ['2026/01/02', '2026/01/03 04:05:06', '2026-01-02'].flatMap(v => [{ create: {} }, { v }]),
      })
      expect(seen.items.map(({ create }) => create?.status)).toEqual([201, 201, 400])
      const mapped = await way.client.indices.getMapping({ index })
      expect(mapped[index]?.mappings.properties).toEqual({
        v: { type: 'date', format: 'yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis', locale: '' },
      })
    })
  })
}
