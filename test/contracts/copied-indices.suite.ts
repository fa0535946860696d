import { describe, expect, test } from 'vitest'
import { codeOf } from '../support/lab/run-world.js'
import { failureOf } from './options.js'
import { many, moving } from './moving.js'
import type { World } from './world.js'

/** Many indices of another cluster at once, and new indices like the old ones. */
export function describeCopiedIndices(world: () => World): void {
  const { request, index, old, make, move, store, hearing } = moving(world)

  const described = async (name: string) =>
    ((await request('GET', `/${name}`)) as Readonly<Record<string, Described>>)[name]

  const mappings = {
    dynamic: 'false',
    properties: {
      n: { type: 'short' },
      name: { type: 'text', analyzer: 'shouting', fields: { raw: { type: 'keyword', ignore_above: 64 } } },
      customer: { properties: { region: { type: 'keyword' } } },
    },
  }
  const analysis = {
    filter: { loud: { type: 'uppercase' } },
    analyzer: { shouting: { type: 'custom', tokenizer: 'whitespace', filter: ['loud'] } },
  }
  const settings = { number_of_shards: 3, number_of_replicas: 0, max_result_window: 20_000, analysis }

  describe('indices of another cluster', () => {
    test('each go to the index of their name', async () => {
      const [one, two] = [`${old()}-1`, `${old()}-2`]
      await store(many(3), {}, one)
      await store(many(4), {}, two)
      const receipt = await move({ source: `elasticsearch:${old()}-*`, index: 'to-{_index}' })
      expect(receipt).toMatchObject({ created: 7, rejected: 0 })
      expect([await world().count(`to-${one}`), await world().count(`to-${two}`)]).toEqual([3, 4])
    })

    test('behind a data stream have its name', async () => {
      const name = old()
      const body = {
        index_patterns: [name, `to-${name}`],
        data_stream: {},
        template: { settings: { number_of_replicas: 0 } },
      }
      await request('PUT', `/_index_template/${name}`, body, true)
      const lines = (from: number) =>
        many(2, from).map(
          ([_id], at) => `${JSON.stringify({ create: { _id } })}\n{"@timestamp":"2026-11-21","n":${at}}\n`,
        )
      await request('POST', `/${name}/_bulk?refresh=true`, lines(1).join(''), true)
      await request('POST', `/${name}/_rollover`, undefined, true)
      await request('POST', `/${name}/_bulk?refresh=true`, lines(3).join(''), true)
      const receipt = await move({ source: `elasticsearch:${name}`, index: 'to-{_index}', mapping: 'copy' })
      expect(receipt).toMatchObject({ created: 4, rejected: 0, indices: [{ index: `to-${name}`, documents: 4 }] })
      expect(receipt.inputs).toHaveLength(2)
    })

    test('give a new index their mapping and what documents need of their settings', async () => {
      await make({ mappings, settings, aliases: { [`${old()}-a`]: {} } })
      await store([['1', '{"n":1,"name":"a b"}']])
      const told: string[] = []
      expect(await move({ mapping: 'copy', onEvent: hearing('mapping', told) })).toMatchObject({ created: 1 })
      expect(told).toEqual([`Sluice creates ${index()} like elasticsearch:${old()}: 3 fields, 5 settings`])
      const made = await described(index())
      expect(made?.mappings).toEqual(mappings)
      expect(made?.settings.index).toMatchObject({ max_result_window: '20000', analysis })
      expect([made?.settings.index['number_of_shards'], made?.aliases]).toEqual(['1', {}])
      const again: string[] = []
      expect(await move({ mapping: 'copy', onEvent: hearing('mapping', again) })).toMatchObject({ read: 0 })
      expect(again).toEqual([`${index()} exists, so its mapping stays as it is`])
    })

    test('give it their aliases on request, and their fields together', async () => {
      const [one, two] = [`${old()}-1`, `${old()}-2`]
      const alias = `${old()}-a`
      await make({ mappings: { properties: { a: { type: 'keyword' } } }, aliases: { [alias]: {} } }, one)
      await make({ mappings: { properties: { a: { type: 'keyword' }, b: { type: 'ip' } } } }, two)
      await store([['1', '{"a":"x"}']], {}, one)
      await store([['2', '{"b":"::1"}']], {}, two)
      const source = `elasticsearch:${old()}-*`
      expect(await move({ source, mapping: 'copy,aliases' })).toMatchObject({ created: 2 })
      expect(await described(index())).toMatchObject({
        aliases: { [alias]: {} },
        mappings: { properties: { a: { type: 'keyword' }, b: { type: 'ip' } } },
      })
      await make({ mappings: { properties: { a: { type: 'long' } } } }, `${old()}-3`)
      const { code, evidence } = await failureOf(move({ source, index: `${index()}-new`, mapping: 'copy' }))
      expect([code, evidence['differences']]).toEqual(['MAPPING_DIFFERS', ['a is keyword, not long']])
      expect(await world().count(`${index()}-new`)).toBe(0)
    })

    test('stop at an index whose fields have another type, and name what else differs', async () => {
      await make({ mappings, settings })
      await store(many(2))
      const target = (properties: object) => ({ mappings: { dynamic: 'false', properties } })
      await make(target({ n: { type: 'keyword' } }), index())
      const { code, evidence } = await failureOf(move({ mapping: 'copy' }))
      expect([code, evidence['what'], evidence['differences']]).toEqual([
        'MAPPING_DIFFERS',
        `the mapping of ${index()}`,
        ['n is keyword, not short'],
      ])
      const other = `${index()}-2`
      await make(target({ n: { type: 'short' } }), other)
      const told: string[] = []
      const onEvent = hearing('mapping', told)
      expect(await move({ index: other, mapping: 'copy', onEvent })).toMatchObject({ created: 2 })
      const differences = 'customer is missing (object), name is missing (text)'
      expect(told).toEqual([
        `${other} exists, so its mapping stays as it is. Compared with the other cluster: ${differences}`,
      ])
      expect(await codeOf(move({ source: [{ a: 1 }], from: undefined, mapping: 'copy' }))).toMatch(
        /^OPTION_INVALID: .*mapping/,
      )
      expect(await codeOf(move({ index: undefined, swapAlias: other, mapping: 'copy' }))).toMatch(/^OPTION_INVALID/)
    })
  })
}

interface Described {
  readonly mappings: object
  readonly aliases: object
  readonly settings: { readonly index: Readonly<Record<string, unknown>> }
}
