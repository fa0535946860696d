import { describe, expect, test } from 'vitest'
import { rounds } from '../../../../support/rounds.js'
import { readDump } from '../../../../support/facts/read-dump.js'
import { seeded } from '../../../../support/random/seeded.js'

const steps = [Infinity, 1, 7, 4096]

describe('a _bulk file', () => {
  test.each(steps)('gives each action with its document (in chunks of %d bytes)', async step => {
    const bulk = [
      '{"index":{"_index":"a","_id":"1"}}\n{"n":1.0}\n',
      '{ "create" : { "_id" : 2, "routing" : "r" } }\r\n{ "n" : 2 }\r\n\n',
      '{"delete":{"_id":"3","_routing":5}}\n',
      '{"update":{"_id":"4","retry_on_conflict":3}}\n{"doc":{"n":4}}\n',
      '{"update":{"_id":"5"}}\n{"doc_as_upsert":true,"doc":{"n":5},"detect_noop":true}\n',
      '{"index":{}}\n{"n":6}\n{"index":{"_id":null,"require_alias":false}}\n{"index":{"name":"a document"}}',
    ]
    expect(await readDump(bulk.join(''), 'auto', step)).toEqual({
      kind: 'actions',
      lines: [
        { operation: 'index', address: { _id: '1' }, document: '{"n":1.0}' },
        { operation: 'create', address: { _id: '2', routing: 'r' }, document: '{"n":2}' },
        { operation: 'delete', address: { _id: '3', routing: '5' }, document: '{}' },
        { operation: 'update', address: { _id: '4' }, document: '{"n":4}' },
        { operation: 'upsert', address: { _id: '5' }, document: '{"n":5}' },
        { operation: 'index', address: {}, document: '{"n":6}' },
        { operation: 'index', address: {}, document: '{"index":{"name":"a document"}}' },
      ],
    })
  })

  const refused: [text: string, reason: string, carried?: object][] = [
    [
      '{"index":{"_id":"1","version":2}}\n{}',
      'line 1: its condition is neither version with version_type external or external_gte, nor if_seq_no with if_primary_term',
    ],
    ['{"index":{"_id":"1","pipeline":"p"}}\n{}', 'line 1: its action has pipeline, which Sluice cannot keep'],
    [
      '{"index":{"_id":"1","if_seq_no":2}}\n{}',
      'line 1: its condition is neither version with version_type external or external_gte, nor if_seq_no with if_primary_term',
    ],
    ['{"create":{"require_alias":true}}\n{}', 'line 1: its action has require_alias, which Sluice cannot keep'],
    ['{"delete":{"_id":""}}', 'line 1: its _id is empty'],
    [
      String.raw`{"delete":{"_id":"\ud83d"}}`,
      'line 1: its _id contains half of a surrogate pair, which is not valid Unicode',
    ],
    ['{"delete":{}}', 'line 1: its action has no _id'],
    [
      '{"update":{"_id":"1"}}\n{"script":"x"}',
      'its update has script. Sluice sends only doc and doc_as_upsert',
      { operation: 'update', address: { _id: '1' } },
    ],
    [
      '{"update":{"_id":"1"}}\n{"doc":{},"upsert":{}}',
      'its update has upsert. Sluice sends only doc and doc_as_upsert',
      { operation: 'update', address: { _id: '1' } },
    ],
    ['{"update":{"_id":"1"}}\n{}', 'its update has no doc', { operation: 'update', address: { _id: '1' } }],
    ['{"index":{}}\noops', 'line 2: broken JSON', { operation: 'index' }],
    [
      '{"index":{"routing":"r","_id":2,"version":3,"version_type":"external"}}\n[1]',
      'line 2: it is not an object',
      { operation: 'indexV', address: { _id: '2', routing: 'r', version: 3, version_type: 'external' } },
    ],
    ['{"n":1}', 'line 1: it is not an action line'],
    ['oops', 'line 1: broken JSON'],
  ]

  test.each(refused)('keeps %j, with what its action says', async (text, reason, carried) => {
    for (const step of steps) {
      const { lines } = await readDump(`${text}\n{"index":{"_id":"9"}}\n{"n":9}\n`, 'bulk', step)
      expect(lines).toEqual([
        { refused: reason, ...carried, line: text.replace('\n', ' ') },
        { operation: 'index', address: { _id: '9' }, document: '{"n":9}' },
      ])
    }
  })

  test.each(steps)('never takes an action line for a document (in chunks of %d bytes)', async step => {
    const text =
      '{"index":{"_id":"1"}}\n{"index":{"_id":"2"}}\n{"n":2}\n{"create":{"_id":"3"}}\n{"delete":{"_id":"4"}}\n'
    const missing = 'the previous action has no document, because another action line follows it'
    expect((await readDump(text, 'bulk', step)).lines).toEqual([
      { refused: `line 2: ${missing}`, operation: 'index', address: { _id: '1' }, line: '{"index":{"_id":"1"}}' },
      { operation: 'index', address: { _id: '2' }, document: '{"n":2}' },
      { refused: `line 5: ${missing}`, operation: 'create', address: { _id: '3' }, line: '{"create":{"_id":"3"}}' },
      { operation: 'delete', address: { _id: '4' }, document: '{}' },
    ])
  })

  test('that was cut off anywhere gives what is whole, and says so', async () => {
    const first = '{"index":{"_id":"1"}}\n{"n":1}\n'
    const second = '{"index":{"_id":"2"}}\n{"n":2}\n'
    for (let to = 1; to < second.length - 1; to += 1) {
      const { lines, code } = await readDump(first + second.slice(0, to), 'bulk', 5)
      expect({ to, code, lines }).toEqual({
        to,
        code: 'INPUT_TRUNCATED',
        lines: [{ operation: 'index', address: { _id: '1' }, document: '{"n":1}' }],
      })
    }
  })
})

test.each(Array.from({ length: rounds(20, 1000) }, (_, seed) => seed))(
  'random actions come out in their order, in any chunks (seed %d)',
  async seed => {
    const random = seeded(seed)
    const actions = Array.from({ length: 1 + random.below(30) }, (_, n) => {
      const operation = random.pick(['index', 'create', 'update', 'upsert', 'delete'])
      const id = random.chance(0.2) && (operation === 'index' || operation === 'create') ? undefined : `id-${n}`
      const routing = random.chance(0.3) ? 'r' : undefined
      const document = operation === 'delete' ? '{}' : `{"n":${n},"t":"${'x'.repeat(random.below(300))}"}`
      return { operation, id, routing, document }
    })
    const text = actions.map(({ operation, id, routing, document }) => {
      const name = operation === 'upsert' ? 'update' : operation
      const action = JSON.stringify({ [name]: { _index: 'a', routing, _id: id } })
      if (operation === 'delete') return action
      if (operation === 'update') return `${action}\n{"doc":${document}}`
      return operation === 'upsert' ? `${action}\n{"doc":${document},"doc_as_upsert":true}` : `${action}\n${document}`
    })
    const { lines } = await readDump(text.join('\n'), 'bulk', 1 + random.below(200))
    expect(lines).toEqual(
      actions.map(({ operation, id, routing, document }) => ({
        operation,
        address: { ...(id === undefined ? {} : { _id: id }), ...(routing === undefined ? {} : { routing }) },
        document,
      })),
    )
  },
)
