/** The rules of `_bulk`. Answers that are written out here were recorded from Elasticsearch 8.19.8 and 9.4.3. */
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type TestLab, ask, openLab } from '../../support/lab/lab-clients.js'

interface BulkAnswer {
  errors?: boolean
  took?: number
  items: Record<string, Record<string, unknown> & { _id?: string; status?: number; error?: Record<string, unknown> }>[]
}

async function bulk(world: TestLab, lines: readonly string[], query = ''): Promise<BulkAnswer> {
  const answer = await world.bulk(lines.map(line => `${line}\n`).join(''), query)
  expect([answer.status, answer.headers['x-elastic-product']]).toEqual([200, 'Elasticsearch'])
  return JSON.parse(answer.text) as BulkAnswer
}

/** Sends one document after the other to index `p1`; what became of each. */
async function send(world: TestLab, documents: readonly string[]): Promise<BulkAnswer['items'][number][string][]> {
  const lines = documents.flatMap((document, i) => [`{"index":{"_index":"p1","_id":"d${i}"}}`, document])
  return (await bulk(world, lines)).items.map(item => item.index ?? {})
}

const shards = { total: 2, successful: 1, failed: 0 }

describe('items', () => {
  it('answer in order, with the members in the order of Elasticsearch', async () => {
    await using world = await openLab()
    const answer = await world.bulk('{"index":{"_index":"p1","_id":"1"}}\n{"n":1}\n')
    expect(answer.headers['content-type']).toBe('application/json')
    expect(answer.text.replace(/"took":\d+/, '"took":0')).toBe(
      '{"errors":false,"took":0,"items":[{"index":{"_index":"p1","_id":"1","_version":1,"result":"created","_shards":{"total":2,"successful":1,"failed":0},"_seq_no":0,"_primary_term":1,"status":201}}]}',
    )
  })

  it('create, index, update and delete as recorded', async () => {
    await using world = await openLab()
    const { items, errors } = await bulk(world, [
      '{"index":{"_index":"p1","_id":"1"}}',
      '{"n":1,"f":1.5,"t":"x","b":true,"o":{"k":1}}',
      '{"create":{"_index":"p1","_id":"1"}}',
      '{"n":2}',
      '{"index":{"_index":"p1","_id":"1"}}',
      '{"n":3}',
      '{"create":{"_index":"p1"}}',
      '{"n":4}',
      '{"update":{"_index":"p1","_id":"1"}}',
      '{"doc":{"n":5}}',
      '{"update":{"_index":"p1","_id":"1"}}',
      '{"doc":{"n":5}}',
      '{"update":{"_index":"p1","_id":"u2"}}',
      '{"doc":{"n":5},"doc_as_upsert":true}',
      '{"update":{"_index":"p1","_id":"u3"}}',
      '{"doc":{"n":5}}',
      '{"update":{"_index":"p1","_id":"u4"}}',
      '{"doc":{"n":5},"upsert":{"n":9}}',
      '{"delete":{"_index":"p1","_id":"1"}}',
      '{"delete":{"_index":"p1","_id":"1"}}',
      '{"delete":{"_index":"p1","_id":"zz"}}',
      '{"create":{"_index":"p1","_id":"1"}}',
      '{"n":2}',
    ])
    const told = { _index: 'p1', _shards: shards, _primary_term: 1 }
    const missing = (id: string): object => ({
      type: 'document_missing_exception',
      reason: `[${id}]: document missing`,
      shard: '0',
      index: 'p1',
    })
    expect(errors).toBe(true)
    expect(items).toMatchObject([
      { index: { ...told, _id: '1', _version: 1, result: 'created', _seq_no: 0, status: 201 } },
      {
        create: {
          _index: 'p1',
          _id: '1',
          status: 409,
          error: {
            type: 'version_conflict_engine_exception',
            reason: '[1]: version conflict, document already exists (current version [1])',
            shard: '0',
            index: 'p1',
          },
        },
      },
      { index: { ...told, _id: '1', _version: 2, result: 'updated', _seq_no: 1, status: 200 } },
      {
        create: {
          ...told,
          _id: expect.stringMatching(/^[\w-]{20}$/) as string,
          _version: 1,
          result: 'created',
          status: 201,
        },
      },
      { update: { ...told, _id: '1', _version: 3, result: 'updated', _seq_no: 3, status: 200 } },
      { update: { ...told, _id: '1', _version: 3, result: 'noop', _seq_no: 3, status: 200 } },
      { update: { ...told, _id: 'u2', _version: 1, result: 'created', status: 201 } },
      { update: { _index: 'p1', _id: 'u3', status: 404, error: missing('u3') } },
      { update: { ...told, _id: 'u4', _version: 1, result: 'created', status: 201 } },
      { delete: { ...told, _id: '1', _version: 4, result: 'deleted', status: 200 } },
      { delete: { ...told, _id: '1', _version: 5, result: 'not_found', status: 404 } },
      { delete: { ...told, _id: 'zz', _version: 1, result: 'not_found', status: 404 } },
      { create: { ...told, _id: '1', _version: 6, result: 'created', status: 201 } },
    ])
    expect(world.lab.control.count('p1')).toBe(4)
  })

  it('of a delete that finds nothing are no error', async () => {
    await using world = await openLab()
    await bulk(world, ['{"index":{"_index":"p1","_id":"1"}}', '{}'])
    expect((await bulk(world, ['{"delete":{"_index":"p1","_id":"2"}}'])).errors).toBe(false)
  })

  it('take their ids as recorded', async () => {
    await using world = await openLab()
    const ids = ['""', '5.0', 'null', 'true', '"\\u00e9 \\"x\\""']
    const lines = ids.flatMap(id => [`{"index":{"_index":"p1","_id":${id}}}`, '{"q":1}'])
    const { items } = await bulk(world, lines)
    const error = { type: 'illegal_argument_exception', reason: 'if _id is specified it must not be empty' }
    expect(items).toMatchObject([
      { index: { _id: '', status: 400, error } },
      { index: { _id: '5.0', status: 201 } },
      { index: { _id: expect.stringMatching(/^[\w-]{20}$/) as string, status: 201 } },
      { index: { _id: 'true', status: 201 } },
      { index: { _id: 'é "x"', status: 201 } },
    ])
  })
})

describe('mapping', () => {
  const first = '{"n":1,"f":1.5,"t":"x","b":true,"o":{"k":1},"d":"2024-01-01T00:00:00Z","e":{}}'
  const noObject = (at: number, path: string, field = path): string =>
    `[1:${at}] object mapping for [${path}] tried to parse field [${field}] as object, but found a concrete value`
  const refused: [string, string][] = [
    [
      '{"n":"NONE"}',
      "[1:6] failed to parse field [n] of type [long] in document with id 'd1'. Preview of field's value: 'NONE'",
    ],
    [
      '{"n":true}',
      "[1:6] failed to parse field [n] of type [long] in document with id 'd1'. Preview of field's value: 'true'",
    ],
    [
      '{"n":{"a":1}}',
      "[1:12] failed to parse field [n] of type [long] in document with id 'd1'. Preview of field's value: '{a=1}'",
    ],
    [
      '{"n":99999999999999999999}',
      "[1:6] failed to parse field [n] of type [long] in document with id 'd1'. Preview of field's value: '99999999999999999999'",
    ],
    [
      '{"n":[1,[2,"x"]]}',
      "[1:12] failed to parse field [n] of type [long] in document with id 'd1'. Preview of field's value: 'x'",
    ],
    [
      '{"f":"abc"}',
      "[1:6] failed to parse field [f] of type [float] in document with id 'd1'. Preview of field's value: 'abc'",
    ],
    [
      '{"f":true}',
      "[1:6] failed to parse field [f] of type [float] in document with id 'd1'. Preview of field's value: 'true'",
    ],
    [
      '{"b":"maybe"}',
      "[1:6] failed to parse field [b] of type [boolean] in document with id 'd1'. Preview of field's value: 'maybe'",
    ],
    [
      '{"b":1}',
      "[1:6] failed to parse field [b] of type [boolean] in document with id 'd1'. Preview of field's value: '1'",
    ],
    [
      '{"t":{"a":1}}',
      "[1:12] failed to parse field [t] of type [text] in document with id 'd1'. Preview of field's value: '{a=1}'",
    ],
    [
      '{"d":"no date"}',
      "[1:6] failed to parse field [d] of type [date] in document with id 'd1'. Preview of field's value: 'no date'",
    ],
    [
      '{"d":true}',
      "[1:6] failed to parse field [d] of type [date] in document with id 'd1'. Preview of field's value: 'true'",
    ],
    [
      '{"d":"2024-02-30"}',
      "[1:6] failed to parse field [d] of type [date] in document with id 'd1'. Preview of field's value: '2024-02-30'",
    ],
    ['{"o":5}', noObject(6, 'o')],
    ['{"e":"x"}', noObject(6, 'e')],
    ['{"o":[1]}', noObject(7, 'o', 'null')],
    [
      '{"_id":1}',
      "[1:8] failed to parse field [_id] of type [_id] in document with id 'd1'. Preview of field's value: '1'",
    ],
    ['{"":1}', '[1:2] failed to parse: field name cannot be an empty string'],
    ['{"a..b":1}', "[1:2] failed to parse: field name cannot contain only whitespace: ['a..b']"],
  ]
  it.each(refused)('refuses %s', async (document, reason) => {
    await using world = await openLab()
    const [good, item] = await send(world, [first, document])
    expect(good).toMatchObject({ status: 201 })
    expect(item).toMatchObject({
      _index: 'p1',
      _id: 'd1',
      status: 400,
      error: { type: 'document_parsing_exception', reason },
    })
    expect(world.lab.control.count('p1')).toBe(1)
  })

  it.each([
    '{"n":"12"}',
    '{"n":1.7}',
    '{"n":"1.5"}',
    '{"n":"1e3"}',
    '{"n":""}',
    '{"n":[1,[2,3]]}',
    '{"n":9223372036854775807}',
    '{"f":1}',
    '{"f":"1.5"}',
    '{"t":5}',
    '{"t":true}',
    '{"b":"true"}',
    '{"b":""}',
    '{"d":5}',
    '{"d":"2024-05"}',
    '{"n":null,"o":null,"t":null}',
    '{"o":[{"k":1},{"k":2}]}',
    '{"o.k":3}',
    '{"x.y":1,"x":{"y":2}}',
    '{"o":{"_id":1}}',
    '{}',
  ])('takes %s', async document => {
    await using world = await openLab()
    expect(await send(world, [first, document])).toMatchObject([{ status: 201 }, { status: 201 }])
  })

  it('learns nothing from a document that is refused', async () => {
    await using world = await openLab()
    const outcomes = await send(world, ['{"n":1}', '{"new":"text","n":"NONE"}', '{"new":5}', '{"new":"x"}'])
    expect(outcomes.map(({ status }) => status)).toEqual([201, 400, 201, 400])
  })

  it('stops at a thousand fields and at twenty levels', async () => {
    await using world = await openLab()
    const fields = (name: string, count: number): string =>
      `{${Array.from({ length: count }, (_, i) => `"${name}${i}":"x"`).join(',')}}`
    const nested = (depth: number): string => '{"a":'.repeat(depth) + 1 + '}'.repeat(depth)
    const many = await send(world, [fields('f', 400), fields('g', 400)])
    expect(many).toMatchObject([
      { status: 201 },
      {
        error: {
          reason:
            '[1:999] failed to parse: Limit of total fields [1000] has been exceeded while adding new fields [202]',
        },
      },
    ])
    await using other = await openLab()
    const deep = await send(other, [nested(22), nested(20)])
    const path = 'a.'.repeat(20).slice(0, -1)
    expect(deep).toMatchObject([
      {
        error: {
          reason: `[1:101] failed to parse: Limit of mapping depth [20] has been exceeded due to object field [${path}]`,
        },
      },
      { status: 201 },
    ])
  })

  it('follows a declared mapping', async () => {
    await using world = await openLab()
    const { cluster } = world.lab.line
    const mappings = {
      dynamic: 'strict',
      properties: { a: { type: 'integer' }, k: { type: 'keyword' }, o: { enabled: false } },
    }
    const headers = { ...world.auth, 'content-type': 'application/json' }
    await ask(`${cluster.httpUrl}/p1`, { method: 'PUT', headers, body: JSON.stringify({ mappings }) })
    expect(
      await send(world, ['{"a":1,"z":1}', '{"a":"NONE"}', '{"a":3000000000}', '{"k":true,"o":{"any":[1,"x"]}}']),
    ).toMatchObject([
      {
        status: 400,
        error: {
          type: 'strict_dynamic_mapping_exception',
          reason: '[1:12] mapping set to strict, dynamic introduction of [z] within [_doc] is not allowed',
        },
      },
      { status: 400, error: { caused_by: { type: 'number_format_exception', reason: 'For input string: "NONE"' } } },
      { status: 400 },
      { status: 201 },
    ])
  })
})

describe('documents', () => {
  it.each([
    ['{"n":1', '[1:6] failed to parse: [1:7] Unexpected end of file'],
    ['{"n":1,"n":2}', "Duplicate field 'n'"],
    ['{"n":null,"n":null}', "Duplicate field 'n'"],
    ['{"o":{"a":1,"a":{}}}', "Duplicate field 'a'"],
    ['[1]', 'Malformed content, must start with an object'],
    ['5', 'Malformed content, must start with an object'],
    ['"x"', 'Malformed content, must start with an object'],
    ['null', 'Malformed content, must start with an object'],
    [' ', 'Malformed content, must start with an object'],
    ['', '[0:0] failed to parse, document is empty'],
    [
      '{a:1}',
      "[1:1] failed to parse: [1:2] Unexpected character ('a' (code 97)): was expecting double-quote to start field name",
    ],
    ['{"a":1,}', "[1:6] failed to parse: [1:8] Unexpected character ('}' (code 125)): was expecting double-quote"],
    ['{"a":01}', '[1:2] failed to parse: [1:7] Invalid numeric value: Leading zeroes not allowed'],
    ['{"a":nul}', "Unrecognized token 'nul'"],
    ['{"a":NaN}', "[1:2] failed to parse: [1:9] Non-standard token 'NaN'"],
    ['{"a":"x\ty"}', '[1:6] failed to parse: [1:8] Illegal unquoted character ((CTRL-CHAR, code 9))'],
    ['{"a":"\\q"}', "[1:6] failed to parse: [1:8] Unrecognized character escape 'q' (code 113)"],
    ['{"a":1.}', "[1:2] failed to parse: [1:8] Unexpected character ('}' (code 125)) in numeric value"],
    ['{"a" 1}', "[1:2] failed to parse: [1:6] Unexpected character ('1' (code 49)): was expecting a colon"],
    [
      '{"a":[1 2]}',
      "[1:7] failed to parse: [1:9] Unexpected character ('2' (code 50)): was expecting comma to separate Array entries",
    ],
    ['{"a":1} x', "Unrecognized token 'x'"],
    ['{"a":1}}', '[1:8] [1:8] Unexpected'],
  ])('refuse %j, and only that', async (document, reason) => {
    await using world = await openLab()
    const [before, item, after] = await send(world, ['{"good":1}', document, '{"good":2}'])
    expect([before?.status, after?.status]).toEqual([201, 201])
    expect(item).toMatchObject({ status: 400, error: { type: 'document_parsing_exception' } })
    expect(item?.error?.reason).toContain(reason)
  })

  it('refuse more than one object on a line', async () => {
    await using world = await openLab()
    const [item] = await send(world, ['{"a":1} {"b":2}'])
    const reason = 'Malformed content, found extra data after parsing: START_OBJECT'
    expect(item).toMatchObject({ status: 400, error: { type: 'illegal_argument_exception', reason } })
  })

  it('refuse bytes that are not UTF-8, and only those', async () => {
    await using world = await openLab()
    const { cluster } = world.lab.line
    const action = Buffer.from('{"index":{"_index":"p1"}}\n')
    const wrong = Buffer.from('{"a":"é\xff"}\n', 'latin1')
    const right = Buffer.from('{"a":"é"}\n')
    const headers = { ...world.auth, 'content-type': 'application/x-ndjson' }
    const body = Buffer.concat([action, right, action, wrong, action, right])
    const { items } = JSON.parse((await ask(`${cluster.httpUrl}/_bulk`, { headers, body })).text) as BulkAnswer
    expect(items.map(item => item.index?.status)).toEqual([201, 400, 201])
    expect(items[1]?.index?.error?.reason).toContain('Invalid UTF-8 start byte 0xe9')
  })

  it('are kept byte for byte', async () => {
    await using world = await openLab()
    const documents = [
      '{"big":1234567890123456789,"e":1E+2,"z":-0.0,"long":0.10000000000000000555}',
      '  { "a" : [ 1 , 2 ] , "u":"\\u00e9\\/","s":"\\ud800" }  ',
      '\u{feff}{"mark":true}',
      '{"snow":"☃","face":"😀"}',
    ]
    const outcomes = await send(world, documents)
    expect(outcomes.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    for (const [i, document] of documents.entries()) {
      expect(world.lab.control.source('p1', `d${i}`)?.toString()).toBe(document)
      expect((await world.get(`/p1/_doc/d${i}`)).text).toContain(`"_source":${document}}`)
      expect((await world.get(`/p1/_source/d${i}`)).text).toBe(document)
    }
  })

  it('keep the digits that an update does not touch', async () => {
    await using world = await openLab()
    await bulk(world, [
      '{"index":{"_index":"p1","_id":"1"}}',
      '{"big":1234567890123456789,"a":{"b":1,"c":2},"l":[1,2]}',
      '{"update":{"_index":"p1","_id":"1"}}',
      '{"doc":{"a":{"b":9},"l":[3]}}',
    ])
    expect(world.lab.control.source('p1', '1')?.toString()).toBe(
      '{"big":1234567890123456789,"a":{"b":9,"c":2},"l":[3]}',
    )
  })

  it('may be quoted in errors unless that is turned off', async () => {
    await using world = await openLab()
    const lines = ['{"index":{"_index":"p1"}}', '{"secret":"hidden"']
    expect(JSON.stringify(await bulk(world, lines))).toContain('hidden')
    expect(JSON.stringify(await bulk(world, lines, '?include_source_on_error=false'))).not.toContain('hidden')
  })
})

describe('the whole request', { tags: 'long' }, () => {
  const illegal = 'illegal_argument_exception'
  const invalid = 'action_request_validation_exception'
  const long = 'x'.repeat(513)
  it.each([
    [
      '{"index":5}\n{"a":1}\n',
      illegal,
      'Malformed action/metadata line [1], expected START_OBJECT or END_OBJECT but found [VALUE_NUMBER]',
    ],
    ['"x"\n{"a":1}\n', illegal, 'Malformed action/metadata line [1], expected START_OBJECT but found [VALUE_STRING]'],
    ['{}\n{"a":1}\n', illegal, 'Malformed action/metadata line [1], expected FIELD_NAME but found [END_OBJECT]'],
    [
      '{"foo":{}}\n{"a":1}\n',
      illegal,
      'Malformed action/metadata line [1], expected field [create], [delete], [index] or [update] but found [foo]',
    ],
    ['{"index":{"foo":1}}\n{"a":1}\n', illegal, 'Action/metadata line [1] contains an unknown parameter [foo]'],
    [
      '{"index":{"_id":{}}}\n{"a":1}\n',
      illegal,
      'Malformed action/metadata line [1], expected a simple value for field [_id] but found [START_OBJECT]',
    ],
    [
      '{"index":{"_index":"p1"},"x":1}\n{}\n',
      illegal,
      'Malformed action/metadata line [1], expected END_OBJECT but found [FIELD_NAME]',
    ],
    [
      '{"index":{"_index":"p1"}}\n{}\n{"a":1}\n{}\n',
      illegal,
      'Malformed action/metadata line [3], expected field [create], [delete], [index] or [update] but found [a]',
    ],
    ['{"index":{"_index":"p1"}}\n{"a":1}', illegal, 'The bulk request must be terminated by a newline [\\n]'],
    ['{"index":{"_index":"p1"}}', illegal, 'The bulk request must be terminated by a newline [\\n]'],
    ['{"index":{"_index":"p1"}}\n', invalid, 'Validation Failed: 1: no requests added;'],
    ['\n', invalid, 'Validation Failed: 1: no requests added;'],
    ['{"delete":{"_index":"p1"}}\n', invalid, 'Validation Failed: 1: id is missing;'],
    ['{"update":{"_index":"p1"}}\n{"doc":{}}\n', invalid, 'Validation Failed: 1: id is missing;'],
    ['{"index":{}}\n{"a":1}\n', invalid, 'Validation Failed: 1: index is missing;'],
    ['{"update":{"_index":"p1","_id":"1"}}\n{}\n', invalid, 'Validation Failed: 1: script or doc is missing;'],
    [
      `{"index":{"_index":"p1","_id":"ok"}}\n{}\n{"index":{"_index":"p1","_id":"${long}"}}\n{}\n`,
      invalid,
      `Validation Failed: 1: id [${long}] is too long, must be no longer than 512 bytes but was: 513;`,
    ],
    ['hello\n{"a":1}\n', 'x_content_parse_exception', "[1:6] Unrecognized token 'hello'"],
    ['{"index":{"_index":"p1"\n{"a":1}\n', 'x_content_e_o_f_exception', '[1:24] Unexpected end of file'],
    [
      '{"index":{"_index":"p1","_id":"1","_id":"2"}}\n{}\n',
      'x_content_parse_exception',
      "[1:40] Duplicate field '_id'",
    ],
    [
      '{"update":{"_index":"p1","_id":"1"}}\n{"foo":1}\n',
      'x_content_parse_exception',
      '[1:2] [UpdateRequest] unknown field [foo]',
    ],
  ])('is refused for %j, and nothing is stored', async (body, type, reason) => {
    await using world = await openLab()
    const refused = await world.bulk(body)
    const { error, status } = JSON.parse(refused.text) as {
      error: { type: string; reason: string; root_cause: object[] }
      status: number
    }
    expect([refused.status, status, error.type]).toEqual([400, 400, type])
    expect(error.reason.startsWith(reason)).toBe(true)
    expect(error.root_cause).toMatchObject([{ type, reason: error.reason }])
    expect(world.lab.control.count('p1')).toBe(0)
  })

  it('is refused without a body, or with one that is not gzip though it says so', async () => {
    await using world = await openLab()
    const expected = { status: 400, text: expect.stringContaining('request body is required') as string }
    expect(await world.bulk('')).toMatchObject(expected)
    expect(await world.bulk('not gzip', '', { 'content-encoding': 'gzip' })).toMatchObject(expected)
  })

  it('takes members behind an action on 8, and an id of 512 bytes', async () => {
    await using world = await openLab({ version: '8.19.8' })
    const id = 'é'.repeat(256)
    const { items } = await bulk(world, [
      '{"index":{"_index":"p1"},"x":1}',
      '{}',
      `{"index":{"_index":"p1","_id":"${id}"}}`,
      '{}',
    ])
    expect(items).toMatchObject([{ index: { status: 201 } }, { index: { status: 201, _id: id } }])
  })

  it('may be gzipped, have CRLF line ends, and blank lines between its pairs', async () => {
    await using world = await openLab()
    const { cluster } = world.lab.line
    const body = gzipSync(
      '{"index":{"_index":"p1","_id":"1"}}\r\n{"a":1}\r\n\r\n\n{"delete":{"_index":"p1","_id":"2"}}\r\n',
    )
    const headers = { ...world.auth, 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' }
    const { items } = JSON.parse((await ask(`${cluster.httpUrl}/_bulk`, { headers, body })).text) as BulkAnswer
    expect(items).toMatchObject([{ index: { status: 201 } }, { delete: { status: 404 } }])
    expect(world.lab.control.source('p1', '1')?.toString()).toBe('{"a":1}')
  })

  it('takes its index from the path, unless an action names another', async () => {
    await using world = await openLab()
    const { cluster } = world.lab.line
    const headers = { ...world.auth, 'content-type': 'application/json' }
    const body = '{"index":{"_id":"1"}}\n{}\n{"create":{"_id":"2","_index":"other"}}\n{}\n{"index":{}}\n{}\n'
    const { items } = JSON.parse((await ask(`${cluster.httpUrl}/by-url/_bulk`, { headers, body })).text) as BulkAnswer
    expect(items.map(item => Object.values(item)[0]?._index)).toEqual(['by-url', 'other', 'by-url'])
  })
})

describe('an index', () => {
  it.each([
    ['Upper', 'must be lowercase'],
    ['_x', "must not start with '_', '-', or '+'"],
    ['-a', "must not start with '_', '-', or '+'"],
    ['a b', `must not contain the following characters [' ','"','*',',','/','<','>','?','\\','|']`],
    ['..', "must not be '.' or '..'"],
    ['a#b', "must not contain '#'"],
    ['a:b', "must not contain ':'"],
    ['', 'must not be empty'],
    ['x'.repeat(256), 'index name is too long, (256 > 255)'],
  ])('may not be called %j', async (index, problem) => {
    await using world = await openLab()
    const { items } = await bulk(world, [`{"index":{"_index":"${index}"}}`, '{}', '{"index":{"_index":"good"}}', '{}'])
    const error = {
      type: 'invalid_index_name_exception',
      reason: `Invalid index name [${index}], ${problem}`,
      index_uuid: '_na_',
      index,
    }
    expect(items).toMatchObject([
      { index: { _index: index, _id: null, status: 400, error } },
      { index: { status: 201 } },
    ])
  })

  it('that is blocked for writing refuses items with 403', async () => {
    await using world = await openLab()
    const { cluster } = world.lab.line
    await bulk(world, ['{"index":{"_index":"p1","_id":"1"}}', '{}'])
    const headers = { ...world.auth, 'content-type': 'application/json' }
    await ask(`${cluster.httpUrl}/p1/_settings`, { method: 'PUT', headers, body: '{"index.blocks.write":true}' })
    const error = { type: 'cluster_block_exception', reason: 'index [p1] blocked by: [FORBIDDEN/8/index write (api)];' }
    const blocked = await bulk(world, [
      '{"index":{"_index":"p1","_id":"2"}}',
      '{}',
      '{"delete":{"_index":"p1","_id":"1"}}',
    ])
    expect(blocked.items).toMatchObject([{ index: { status: 403, error } }, { delete: { status: 403, error } }])
    await ask(`${cluster.httpUrl}/p1/_settings`, {
      method: 'PUT',
      headers,
      body: '{"index":{"blocks":{"write":false}}}',
    })
    expect((await bulk(world, ['{"delete":{"_index":"p1","_id":"1"}}'])).errors).toBe(false)
  })

  it('must be an alias, exist, or have its pipeline, where that is asked for', async () => {
    await using world = await openLab()
    const pair = ['{"index":{"_index":"p1","_id":"1"}}', '{}']
    const reasonOf = ({ items }: BulkAnswer): unknown => items[0]?.index?.error?.reason
    expect(reasonOf(await bulk(world, pair, '?require_alias=true'))).toBe(
      'no such index [p1] and [require_alias] request flag is [true] and [p1] is not an alias',
    )
    expect(reasonOf(await bulk(world, ['{"index":{"_index":"p1","require_alias":true}}', '{}']))).toContain(
      '[require_alias]',
    )
    expect(reasonOf(await bulk(world, pair, '?require_data_stream=true'))).toContain('[p1] is not a data stream')
    expect(reasonOf(await bulk(world, pair, '?pipeline=nope'))).toBe('pipeline with id [nope] does not exist')
    const { items } = await bulk(world, ['{"delete":{"_index":"nope","_id":"1"}}'])
    expect(items).toMatchObject([
      { delete: { status: 404, error: { type: 'index_not_found_exception', reason: 'no such index [nope]' } } },
    ])
  })
})

describe('filter_path', () => {
  const lines = '{"index":{"_index":"p1","_id":"f1"}}\n{"q":1}\n{"create":{"_index":"p1","_id":"f1"}}\n{"q":1}\n'
  const conflict = '[f1]: version conflict, document already exists (current version [1])'
  it.each([
    [
      'errors,items.*.status,items.*._id,items.*.error.type,items.*.error.reason,items.*.failure_store',
      `{"errors":true,"items":[{"index":{"_id":"f1","status":201}},{"create":{"_id":"f1","status":409,"error":{"type":"version_conflict_engine_exception","reason":"${conflict}"}}}]}`,
    ],
    ['errors,items.*.result', '{"errors":true,"items":[{"index":{"result":"created"}}]}'],
    ['**.status', '{"items":[{"index":{"status":201}},{"create":{"status":409}}]}'],
    ['items.create.status', '{"items":[{"create":{"status":409}}]}'],
    ['items.*.error.t*', '{"items":[{"create":{"error":{"type":"version_conflict_engine_exception"}}}]}'],
    [
      'items.*,-items.*._*,-items.*.error',
      '{"items":[{"index":{"result":"created","status":201}},{"create":{"status":409}}]}',
    ],
    ['nothing', '{}'],
  ])('%s keeps what it names', async (filter, expected) => {
    await using world = await openLab()
    expect((await world.bulk(lines, `?filter_path=${filter}`)).text).toBe(expected)
  })

  it('leaves nothing of a good answer when it names errors alone', async () => {
    await using world = await openLab()
    expect((await world.bulk('{"index":{"_index":"p1"}}\n{}\n', '?filter_path=items.*.error')).text).toBe('{}')
  })

  it('does not touch request-level errors', async () => {
    await using world = await openLab()
    expect((await world.bulk('{}\n', '?filter_path=items')).text).toContain('"type":"illegal_argument_exception"')
    expect(await world.bulk(lines, '?foo=1')).toMatchObject({
      status: 400,
      text: expect.stringContaining('request [/_bulk] contains unrecognized parameter: [foo]') as string,
    })
  })
})
