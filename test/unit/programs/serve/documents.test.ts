import { describe, expect, test } from 'vitest'
import { documentsIn, type MediaType, mediaTypeOf } from '../../../../src/programs/serve/documents-in.js'
import { Turns } from '../../../../src/programs/serve/take-post.js'
import { seeded } from '../../../support/random/seeded.js'

/** Alone on the event loop. */
const checking = { maxDocuments: 1000, turn: async () => await Promise.resolve() }

const read = async (text: string | Buffer, type: MediaType, more = {}) => {
  const bytes = Buffer.concat([Buffer.from(text), Buffer.from('!')])
  const found = await documentsIn({ bytes, length: bytes.length - 1 }, type, { ...checking, ...more })
  return 'problem' in found ? found : { documents: found.documents, text: Buffer.from(found.bytes).toString() }
}

describe('NDJSON of a request', () => {
  test('is taken line by line, each with a line end of its own, blank lines left out', async () => {
    expect(await read('\ufeff{"a":1}\r\n\n  \n{"b":"\\n"}', 'ndjson')).toEqual({
      documents: 2,
      text: '{"a":1}\n{"b":"\\n"}\n',
    })
  })

  test.each([
    ['{"a":1}\r\n{"b":2}', '{"a":1}\n{"b":2}\n'],
    ['\n{"b":2}', '{"b":2}\n'],
    ['{"b":2}\r\n', '{"b":2}\n'],
    ['{"a":1}\n{"b":2}\n', '{"a":1}\n{"b":2}\n'],
  ])('%j always ends in a line end', async (body, text) => {
    expect(await read(body, 'ndjson')).toMatchObject({ text })
  })

  test.each([
    ['{"a":1}\n{"a":}\n', 400, 2],
    ['{"a":1}\n\n{"a":1}{"b":2}\n', 400, 3],
    ['[{"a":1}]\n', 422, 1],
    ['null\n', 422, 1],
    ['"text"', 422, 1],
    ['{"a":1', 400, 1],
  ])('%j is refused with %i, and its line is named', async (text, status, line) => {
    expect(await read(text, 'ndjson')).toMatchObject({ status, line })
  })

  test('a problem never quotes the document', async () => {
    expect(JSON.stringify(await read('{"password":"hunter2",}', 'ndjson'))).not.toContain('hunter2')
  })
})

describe('JSON of a request', () => {
  test.each([
    ['{"a":1}', ['{"a":1}']],
    [' {"a":\n[1,\r\n2]} \n', ['{"a": [1,  2]}']],
    ['[]', []],
    ['', []],
    ['[{"a":1},{"a":"]\\"}, {"}]', ['{"a":1}', '{"a":"]\\"}, {"}']],
    ['[ {"a":[{"b":[]}]} , {} ]', ['{"a":[{"b":[]}]}', '{}']],
    ['[{"n":1234567890123456789}]', ['{"n":1234567890123456789}']],
    ['\ufeff{"a":1}', ['{"a":1}']],
  ])('%j holds %j', async (text, documents) => {
    expect(await read(text, 'json')).toEqual({
      documents: documents.length,
      text: documents.map(document => `${document}\n`).join(''),
    })
  })

  test.each([
    ['[{"a":1},]', 400],
    ['[,{"a":1}]', 400],
    ['[{"a":1}', 400],
    ['[', 400],
    ['[{"a":1}] x', 400],
    ['[{"a":1}{"b":1}]', 400],
    ['[{"a":1}}]', 400],
    ['{"a":1},{"a":2}', 400],
    ['[{"a":1},[2]]', 422],
    ['[{"a":"\n"}]', 400],
    ['3', 422],
    ['[{"a":1]]', 400],
    ['["', 400],
    ['[{"a":"\\', 400],
  ])('%j is refused with %i', async (text, status) => {
    expect(await read(text, 'json')).toMatchObject({ status })
  })

  test('is what a parser finds, for any array', async () => {
    const random = seeded(5)
    const value = (depth: number): unknown => {
      const kind = random.below(depth > 3 ? 4 : 6)
      if (kind === 0) return random.below(1000)
      if (kind === 1) return `a${'"\\[]{},\n '.slice(random.below(8))}`
      if (kind === 2) return null
      if (kind === 3) return random.real() < 0.5
      if (kind === 4) return Array.from({ length: random.below(4) }, () => value(depth + 1))
      return Object.fromEntries(Array.from({ length: random.below(4) }, (_, at) => [`k${at}`, value(depth + 1)]))
    }
    for (let round = 0; round < 300; round += 1) {
      const all = Array.from({ length: random.below(5) }, () => ({ value: value(0) }))
      const found = await read(JSON.stringify(all, undefined, random.below(3)), 'json')
      if ('problem' in found) throw new Error(found.problem)
      const lines = found.text.split('\n').filter(line => line !== '')
      expect(lines.map(line => JSON.parse(line) as unknown)).toEqual(all)
    }
  })

  test('is refused, wherever it breaks off', async () => {
    const text = Buffer.from('[{"a":"\\"]"},{"b":[1,{"c":2}]}]')
    for (let end = 0; end < text.length; end += 1) {
      expect(end === 0 || 'problem' in (await read(text.subarray(0, end), 'json'))).toBe(true)
    }
  })
})

test.each([
  ['application/x-ndjson', 'ndjson'],
  ['application/ndjson; charset=UTF-8', 'ndjson'],
  ['Application/JSON;charset="utf-8"', 'json'],
  ['application/json; charset=utf-16', undefined],
  ['text/json', undefined],
  [undefined, undefined],
])('the content type %s means %s', (header, type) => {
  expect(mediaTypeOf(header)).toBe(type)
})

test('a request has a limit of documents, and blank lines do not count', async () => {
  const limited = { maxDocuments: 3 }
  for (const [text, type] of [
    ['{}\n{}\n\n{}\n\n', 'ndjson'],
    ['[{},{},{}]', 'json'],
  ] as const)
    expect(await read(text, type, limited)).toMatchObject({ documents: 3 })
  for (const [text, type] of [
    ['{}\n{}\n\n{}\n{}\nbroken', 'ndjson'],
    ['[{},{},{},{},', 'json'],
  ] as const)
    expect(await read(text, type, limited)).toMatchObject({
      status: 413,
      problem: 'a request may have at most 3 documents',
    })
})

test('a document may have as many levels as Elasticsearch takes', async () => {
  const levels = (count: number) => `{"a":${'['.repeat(count - 1)}${']'.repeat(count - 1)}}`
  expect(await read(levels(1000), 'ndjson')).toMatchObject({ documents: 1 })
  expect(await read(`{}\n${levels(1001)}`, 'ndjson')).toEqual({
    status: 422,
    line: 2,
    problem: 'line 2 has more than 1000 levels',
  })
})

test.each([
  ['many documents', '{"a":1}\n'.repeat(100_000), 'ndjson'],
  ['many elements', `[${'{"a":1},'.repeat(100_000)}{}]`, 'json'],
  ['one long document', `{"a":[${'1,'.repeat(400_000)}1]}`, 'json'],
  ['one long line', `{"a":[${'1,'.repeat(400_000)}1]}`, 'ndjson'],
  ['blank lines', '\n'.repeat(800_000), 'ndjson'],
] as const)('%s let other requests go first', async (_, text, type) => {
  let turns = 0
  const turn = async () => await Promise.resolve(void (turns += 1))
  expect(await read(text, type, { maxDocuments: 1_000_000, turn })).not.toHaveProperty('problem')
  expect(turns).toBe(Math.floor(text.length / (128 << 10)))
})

test('of several long tasks, each round of the event loop continues one, in turn', async () => {
  const turns = new Turns()
  let round = 0
  const count = (): void => {
    round += 1
    if (steps.length < 9) setImmediate(count)
  }
  const steps: { readonly name: string; readonly round: number }[] = []
  const long = async (name: string) => {
    for (let step = 0; step < 3; step += 1) {
      await turns.next()
      steps.push({ name, round })
    }
  }
  count()
  await Promise.all(['a', 'b', 'c'].map(long))
  expect(steps.map(({ name }) => name).join('')).toBe('abcabcabc')
  expect(new Set(steps.map(step => step.round)).size).toBe(9)
})

test('the line of a bad element counts the lines of those before, which may span several', async () => {
  expect(await read('[{"a":\n1},\n\n {"b":\r\n2}\n,\n3]', 'json')).toEqual({
    status: 422,
    line: 7,
    problem: 'document 3 (line 7) is not a JSON object',
  })
})
