import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { lookAlike } from '../../../../src/pipeline/format/look-alike.js'

const of = (text: string | Buffer, isWhole = true) => {
  const alike = lookAlike(Buffer.from(text as string), isWhole)
  return typeof alike === 'string' ? alike : alike.kind
}
const times = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n')
const utf16 = (text: string) => Buffer.from(text, 'utf16le')
const csv = `id,name,price\n${times(1200, at => `${at},"Chair, small",${at}.5`)}\n`
const pretty = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

describe('an input that is NDJSON', () => {
  test.each([
    ['documents', '{"a":1}\n{"a":2}\n'],
    ['nothing', ''],
    ['blank lines', '\n \n\r\n'],
    ['a document on its only line', '{"a":1}'],
    ['a first line that is broken, before many documents', `{"a":\n${times(50, at => `{"a":${at}}`)}\n`],
    ['a first line that is a log, before documents', 'Exporting 2 rows\n{"a":1}\n{"a":2}\n'],
    ['one document among lines that are broken', `${times(900, () => '{"a')}\n{"a":1}\n`],
    ['arrays', '[1,2]\n[3,4]\n'],
    ['texts', '"one"\n"two"\n'],
    ['numbers', '1\n2\n3\n'],
    [
      'documents with a field that is called like an action',
      '{"index":"a"}\n{"delete":true}\n{"create":{"by":"me"}}\n',
    ],
    ['documents with more fields than an action', '{"index":{"_id":"1"},"name":"a"}\n'],
    ['documents with _source that is no object', '{"_source":"app","_id":"1"}\n'],
    ['documents with CSV in them', '{"row":"id,name"}\n{"row":"1,a"}\n'],
    ['documents with XML in them', '{"row":"<a/>"}\n'],
  ])('is read as lines: %s', (_, text) => {
    expect(of(text)).toBe('lines')
    expect(of(text, false)).toBe('lines')
  })

  test('is read as lines where a broken first line could be the start of the second', () => {
    expect(of('{"a":\n{"a":1}\n')).toBe('lines')
  })

  test('is read as lines while too few of its lines were seen', () => {
    expect(of(`${times(5, () => 'x'.repeat(200))}\n`, false)).toBe('lines')
  })
})

describe('JSON on several lines', () => {
  const nested = { took: 3, hits: { hits: [{ _source: { a: 1 } }, { _source: { a: 2 } }] } }
  test.each([
    ['an object', pretty(nested)],
    ['objects behind each other', pretty(nested) + pretty(nested)],
    ['an object with documents that have a line of their own', '{"rows":[\n{"a":1},\n{"a":2}\n]}\n'],
    ['an array', pretty([nested, nested])],
    ['an object that is cut off', pretty(nested).slice(0, -9)],
  ])('is read as JSON: %s', (_, text) => {
    expect(of(text)).toBe('json')
  })

  test('is read as JSON when only its beginning was seen', () => {
    expect(of(pretty({ rows: Array.from({ length: 2000 }, (_, a) => ({ a })) }).slice(0, 9000), false)).toBe('json')
  })
})

describe('another kind of file is recognised', () => {
  test.each([
    ['CSV', csv],
    ['CSV', csv.replaceAll('\n', '\r\n')],
    ['CSV', 'id,name\n1,Chair\n'],
    ['CSV', `id,data\n${times(30, at => `${at},"{""a"":${at},""b"":[1,2]}"`)}\n`],
    ['CSV', `id,data\n${times(30, at => `${at},{"a":${at},"b":[1,2]}`)}\n`],
    ['CSV with semicolons', `Artikel;Größe;Preis\n${times(30, at => `A${at};12;3,${at}`)}\n`],
    ['CSV with tabs', `id\tname\n${times(30, at => `${at}\tChair, small`)}\n`],
    ['_bulk lines', '{"index":{"_index":"a","_id":"1"}}\n{"a":1}\n'],
    ['_bulk lines', '{"create":{}}\n{"a":1}\n'],
    ['_bulk lines', '\n{ "delete" : { "_id": "1", "routing": "r" } }\n'],
    ['_bulk lines', '{"update":{"_id":"1","retry_on_conflict":3}}\n{"doc":{"a":1}}\n'],
    ['an elasticdump file', '{"_index":"a","_type":"_doc","_id":"1","_score":1,"_source":{"a":1}}\n'],
    [
      'an elasticdump file',
      '{"_index":"a","_id":"1","_score":1,"_source":null}\n{"_index":"a","_id":"2","_source":{}}\n',
    ],
    ['an elasticdump file', '{"_index":"a","_id":"1","_score":null,"fields":{"n":[1]},"sort":[1]}\n'],
    ['XML', '<?xml version="1.0"?>\n<rows>\n<row/>\n</rows>\n'],
    ['XML', '<html><body>Sign in</body></html>'],
    ['UTF-16LE text', utf16('{"a":1}\n{"a":2}\n')],
    ['UTF-16LE text', utf16(csv)],
    ['UTF-16BE text', utf16('{"a":"é"}\n{"a":2}\n').swap16()],
    [
      'a workbook',
      Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.from('....[Content_Types].xml....xl/workbook.xml')]),
    ],
    ['an old or encrypted Office file', Buffer.from('d0cf11e0a1b11ae100000000', 'hex')],
    ['a ZIP archive', Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.from('....logs/app.ndjson....')])],
    ['gzip data inside gzip data', gzipSync('{"a":1}\n')],
    ['plain text', times(30, at => `2026-11-22 10:00:${at},123 INFO started, ready`)],
    ['plain text', times(30, at => `10.0.0.1 - - [22/Nov/2026:10:00:${at} +0000] "GET / HTTP/1.1" 200 12`)],
    ['plain text', times(30, at => `[${at}] {"a":1} is a document, he said`)],
    ['plain text', `${times(30, () => "{'a': 1}")}\n`],
    ['plain text', Buffer.from('Grüße aus Köln\n', 'latin1')],
    // Excel ends each row with the delimiters of its widest one.
    ['a table with semicolons', '\n;;;;\nDatum;Kunde;Betrag;;\n01.02.2026;A;1,5;;\n02.02.2026;B;2,5;;\n'],
    ['a table with semicolons', 'Umsatz 2026;;\n;;\nDatum;Kunde;Betrag (€)\n01.02.2026;"A;B";1,5\n'],
    ['a table with semicolons', 'Datum;Betrag (€)\n01.02.2026;1,5\n'],
    ['a table with semicolons', Buffer.from('Größe;Straße;\n12;A;\n13;B;\n', 'latin1')],
    ['a table with tabs', 'Orders of 2026\n\nday\tname\n2026-01-01\tA\n2026-01-02\tB\n'],
    ['plain text', 'int a;\nint b;\nint c;\n'],
    ['plain text', times(30, at => `2026-11-22 10:00:${at};INFO;started`)],
    ['plain text', 'Dear Ann; dear Bob\nthis is a letter\nand it ends here\n'],
    ['plain text', ';;;;\n;;;;\n'],
    ['binary data', Buffer.from('7f454c4602010100000000000000000003003e00010000000a0a', 'hex')],
  ])('%s', (kind, bytes) => {
    expect(of(bytes)).toBe(kind)
  })

  test('says what shows it', () => {
    expect(lookAlike(Buffer.from(csv), false)).toEqual({
      kind: 'CSV',
      observed: 'none of its first 1,000 lines is JSON',
    })
    expect(lookAlike(Buffer.from('{"index":{}}\n'), true)).toMatchObject({
      observed: 'its first line is an action (index)',
    })
  })
})
