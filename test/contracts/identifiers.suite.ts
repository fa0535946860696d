import { describe, expect, test } from 'vitest'
import { connect } from '../../src/index.js'
import { newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** What a cluster does with ids, routing values and names of indices that it cannot keep as they are. */
export function describeIdentifiers(world: () => World): void {
  /** The status and the type of the error of each item, or of the whole request. */
  async function bulk(lines: readonly (object | string)[]): Promise<readonly unknown[]> {
    const { deadLetters: _, ...way } = loadThrough(world(), world().proxy.http)
    await using direct = await connect({ ...way, preflightConnections: 1 })
    const body = lines.map(line => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')
    const headers = { 'content-type': 'application/x-ndjson', accept: 'application/json' }
    const { client } = direct
    const answer = await client.transport.request<Answer>(
      { method: 'POST', path: '/_bulk', body, querystring: { refresh: 'true' } },
      { headers, ignore: [400] },
    )
    if (answer.items === undefined) return [answer.status, answer.error?.type]
    return answer.items.flatMap(item => Object.values(item).map(({ status, error }) => error?.type ?? status))
  }

  const create = (_index: string, _id: string, more: object = {}) => [{ create: { _index, _id, ...more } }, { n: 1 }]

  describe('identifiers', () => {
    test.each([
      ['ASCII', 'a'],
      ['characters of two bytes', 'é'],
    ])('an id of 512 bytes is stored, and one that is longer refuses the whole request: %s', async (_, letter) => {
      const index = newIndex()
      const longest = letter.repeat(512 / Buffer.byteLength(letter))
      expect(await bulk(create(index, longest))).toEqual([201])
      for (const long of [`${longest}a`, longest + letter]) {
        const refused = [400, 'action_request_validation_exception']
        expect(await bulk([...create(index, 'beside'), ...create(index, long)])).toEqual(refused)
        expect(await bulk([{ update: { _index: index, _id: long } }, { doc: { n: 2 } }])).toEqual(refused)
        // No document has it.
        expect(await bulk([{ delete: { _index: index, _id: long } }, { create: { _index: index } }, { n: 1 }])).toEqual(
          [404, 201],
        )
      }
      expect(await world().source(index, 'beside')).toBeUndefined()
    })

    test('normal forms of a character, and white space, make different ids', async () => {
      const index = newIndex()
      const ids = ['\u00e9', 'e\u0301', '\u00c5', '\u212b', 'a', ' a', 'a ', 'a\u0000', '\ufeffa']
      expect(await bulk(ids.flatMap(id => create(index, id)))).toEqual(ids.map(() => 201))
      expect(await world().count(index)).toBe(ids.length)
    })

    test('halves of surrogate pairs make one id of different ones', async () => {
      const index = newIndex()
      const half = (escape: string) => [`{"create":{"_index":"${index}","_id":"s${escape}"}}`, { n: 1 }]
      expect(
        await bulk([...half(String.raw`\ud800`), ...half(String.raw`\ud801`), ...half(String.raw`\udc00`)]),
      ).toEqual([201, 'version_conflict_engine_exception', 'version_conflict_engine_exception'])
      expect(await world().count(index)).toBe(1)
    })

    test('a routing value may be longer than an id, up to the longest term: only its document is refused', async () => {
      const index = newIndex()
      const routed = (id: string, bytes: number) => create(index, id, { routing: 'r'.repeat(bytes) })
      expect(
        await bulk([...routed('a', 513), ...routed('b', 32_766), ...routed('c', 32_767), ...create(index, 'd')]),
      ).toEqual([201, 201, 'illegal_argument_exception', 201])
    })

    test.each([
      ['with an upper-case letter', 'Upper', 'invalid_index_name_exception'],
      ['of dots', '..', 'invalid_index_name_exception'],
      ['that starts with _', '_a', 'invalid_index_name_exception'],
      ['with a blank', 'a b', 'invalid_index_name_exception'],
      ['with #', 'a#b', 'invalid_index_name_exception'],
      ['of 256 bytes', 'a'.repeat(256), 'invalid_index_name_exception'],
      ['of 128 characters with 256 bytes', 'é'.repeat(128), 'invalid_index_name_exception'],
      ['with a wildcard', 'a*', 'illegal_argument_exception'],
    ])('no index has a name %s: only its document is refused', async (_, name, type) => {
      const index = newIndex()
      expect(await bulk([...create(name, 'a'), ...create(index, 'a')])).toEqual([type, 201])
    })

    test('normal forms of a character make different indices', async () => {
      const index = newIndex()
      const names = [`${index}-\u00e9`, `${index}-e\u0301`]
      expect(await bulk(names.flatMap(name => create(name, 'a')))).toEqual([201, 201])
      expect(await Promise.all(names.map(async name => await world().count(name)))).toEqual([1, 1])
    })
  })
}

interface Answer {
  readonly status?: number
  readonly error?: { readonly type: string }
  readonly items?: readonly Record<string, { readonly status: number; readonly error?: { readonly type: string } }>[]
}
