import { describe, expect, test } from 'vitest'
import { documentsIn, elementsOf, mediaTypeOf } from '../../../src/serve/documents-in.js'
import { seeded } from '../../support/seeded.js'

const read = (text: string, type: 'ndjson' | 'json') => {
  const found = documentsIn(Buffer.from(text), type)
  return 'problem' in found ? found : { documents: found.documents, text: Buffer.from(found.bytes).toString() }
}

describe('NDJSON of a request', () => {
  test('is taken line by line, each with a line end of its own, blank lines left out', () => {
    expect(read('\ufeff{"a":1}\r\n\n  \n{"b":"\\n"}', 'ndjson')).toEqual({
      documents: 2,
      text: '{"a":1}\n{"b":"\\n"}\n',
    })
  })

  test.each([
    ['{"a":1}\r\n{"b":2}', '{"a":1}\n{"b":2}\n'],
    ['\n{"b":2}', '{"b":2}\n'],
    ['{"b":2}\r\n', '{"b":2}\n'],
    ['{"a":1}\n{"b":2}\n', '{"a":1}\n{"b":2}\n'],
  ])('%j always ends in a line end', (body, text) => {
    expect(read(body, 'ndjson')).toMatchObject({ text })
  })

  test.each([
    ['{"a":1}\n{"a":}\n', 400, 2],
    ['{"a":1}\n\n{"a":1}{"b":2}\n', 400, 3],
    ['[{"a":1}]\n', 422, 1],
    ['null\n', 422, 1],
    ['"text"', 422, 1],
    ['{"a":1', 400, 1],
  ])('%j is refused with %i, and its line is named', (text, status, line) => {
    expect(read(text, 'ndjson')).toMatchObject({ status, line })
  })

  test('a problem never quotes the document', () => {
    expect(JSON.stringify(read('{"password":"hunter2",}', 'ndjson'))).not.toContain('hunter2')
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
  ])('%j holds %j', (text, documents) => {
    expect(read(text, 'json')).toEqual({
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
  ])('%j is refused with %i', (text, status) => {
    expect(read(text, 'json')).toMatchObject({ status })
  })

  test('is what a parser finds, for any array', () => {
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
      const found = read(JSON.stringify(all, undefined, random.below(3)), 'json')
      if ('problem' in found) throw new Error(found.problem)
      const lines = found.text.split('\n').filter(line => line !== '')
      expect(lines.map(line => JSON.parse(line) as unknown)).toEqual(all)
    }
  })

  test('its parts end where the text does, wherever it breaks off', () => {
    const text = Buffer.from('[{"a":"\\"]"},{"b":[1,{"c":2}]}]')
    for (let end = 0; end < text.length; end += 1) {
      const { elements } = elementsOf(text.subarray(0, end))
      for (const { from, to } of elements) expect(from <= to && to <= end).toBe(true)
      expect(end === 0 || 'problem' in documentsIn(text.subarray(0, end), 'json')).toBe(true)
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
