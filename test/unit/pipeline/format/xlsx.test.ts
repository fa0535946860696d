import { deflateRawSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { isSluiceError } from '../../../../src/base/failure/failure.js'
import type { Source, StoredFile } from '../../../../src/base/flow.js'
import { refusedLineIn } from '../../../../src/base/text/bytes.js'
import { type DecodeOptions, decode, skipLines } from '../../../../src/pipeline/format/decode.js'
import { zipOf } from '../../../support/facts/archives.js'
import { type WrittenCell, type WrittenWorkbook, workbookOf } from '../../../support/facts/workbooks.js'
import { rounds } from '../../../support/rounds.js'
import { seeded } from '../../../support/random/seeded.js'

/** Bytes in chunks of a size, each of which is overwritten when the next one is asked for, as a source may do. */
async function* chunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) {
    const chunk = Buffer.from(bytes.subarray(from, from + size))
    yield chunk
    chunk.fill('!')
  }
}

type Options = Partial<DecodeOptions> & { readonly size?: number; readonly skip?: number; readonly isStored?: boolean }

async function load(bytes: Buffer, { size = 1 << 16, skip = 0, isStored = true, ...options }: Options = {}) {
  const stat = { size: bytes.length, inode: 1, mtimeMs: 0, ctimeMs: 0 }
  const part = async (from: number, to: number) => await Promise.resolve(Buffer.from(bytes.subarray(from, to)))
  const file = { stat, part } as unknown as StoredFile
  const source: Source = { id: 0, name: 'a.xlsx', open: () => chunks(bytes, size), ...(isStored ? { file } : {}) }
  const notes: string[] = []
  let [text, problem, code, found, kind] = ['', '', '', '', '']
  try {
    const note = (_: string, what: string) => void notes.push(what)
    const lines = await decode(source, chunks(bytes, size), { format: 'auto', ...options }, note)
    found = lines.found ?? ''
    kind = lines.kind
    for await (const chunk of skipLines(lines.bytes, skip)) text += Buffer.from(chunk).toString()
  } catch (error) {
    if (!isSluiceError(error)) throw error
    problem = error.message
    code = error.code
  }
  const lines = text.split('\n').slice(0, -1)
  const refused = lines.flatMap(line => {
    const at = Buffer.from(line)
    return refusedLineIn(at, 0, at.length)?.problem ?? []
  })
  const documents = lines.filter(line => line.startsWith('{'))
  return { kind, lines: documents, refused, notes, problem, code, found }
}

type Rows = WrittenWorkbook['sheets'][number]['rows']

const one = (rows: Rows, more: Partial<WrittenWorkbook> = {}) =>
  workbookOf({ sheets: [{ name: 'Sheet1', rows }], ...more })

/** Returns the value of a cell in a column `v`, as JSON. */
async function written(cell: WrittenCell, more: Partial<WrittenWorkbook> = {}): Promise<string> {
  const { lines, problem, refused } = await load(
    one(
      [
        ['id', 'v'],
        [1, cell],
      ],
      more,
    ),
  )
  const [, value = 'missing'] = /^\{"id":1(?:,"v":(.*))?\}$/s.exec(lines[0] ?? '') ?? []
  return lines.length === 0 ? [...refused, problem].join() : value
}

describe('cells keep what they are', () => {
  const values: readonly [string, WrittenCell, string][] = [
    ['a whole number', 42, '42'],
    ['a decimal', 1.5, '1.5'],
    ['a negative one', -0.25, '-0.25'],
    ['0.1, as Excel writes it', { xml: '><v>0.10000000000000001</v></c>' }, '0.1'],
    ['a small one, as Excel writes it', { xml: '><v>1.0000000000000001E-5</v></c>' }, '0.00001'],
    ['a large one, as Excel writes it', { xml: '><v>1.2345678901234567E+25</v></c>' }, '1.2345678901234567E+25'],
    ['a whole number of 20 digits', { xml: '><v>12345678901234567890</v></c>' }, '12345678901234567890'],
    ['a decimal of 21 digits', { xml: '><v>123456789012345678.901</v></c>' }, '123456789012345678.901'],
    [
      'a decimal of 17 digits that no program made of a short one',
      { xml: '><v>1234567890123.4567</v></c>' },
      '1234567890123.4567',
    ],
    ['leading zeros', { xml: '><v>007</v></c>' }, '7'],
    ['a number in a format with words', { number: 5, style: 'words' }, '5'],
    ['a number in a format of money', { number: 5.5, style: 'money' }, '5.5'],
    ['true', true, 'true'],
    ['false', false, 'false'],
    ['a text', 'Müller & Söhne <"', '"Müller & Söhne <\\""'],
    ['a text of digits', '007', '"007"'],
    ['a text with lines', 'a\nb\tc', '"a\\nb\\tc"'],
    ['a text with a control character', 'a_x000D_b_x005F_x000D_', '"a\\rb_x000D_"'],
    ['numbered characters', { xml: ' t="str"><v>&#228;&#xE4;&#x1F600;&unknown;</v></c>' }, '"ää😀&unknown;"'],
    ['CDATA and comments', { xml: ' t="str"><v>a<!-- <v> --><![CDATA[<b>&amp;]]>c</v></c>' }, '"a<b>&amp;c"'],
    [
      'an inline text',
      {
        xml: ' t="inlineStr"><is><r><t>a</t></r><r><rPr><b/></rPr><t xml:space="preserve"> b</t></r><rPh sb="0" eb="1"><t>no</t></rPh></is></c>',
      },
      '"a b"',
    ],
    ['a shared rich text', { xml: ' t="s"><v>0</v></c>' }, '"rich text"'],
    ['an error', { xml: ' t="e"><v>#N/A</v></c>' }, 'missing'],
    ['an empty text', { xml: ' t="str"><v></v></c>' }, 'missing'],
    ['a cell with a style only', { xml: ' s="1"/>' }, 'missing'],
    ['the number that a formula gave', { xml: '><f>SUM(A1:A9)</f><v>12</v></c>' }, '12'],
    ['the text that a formula gave', { xml: ' t="str"><f>A1&amp;"x"</f><v>ax</v></c>' }, '"ax"'],
    ['an ISO date', { xml: ' t="d"><v>2026-11-02T08:30:00</v></c>' }, '"2026-11-02T08:30:00"'],
    ['a date', { number: 46_328, style: 'date' }, '"2026-11-02"'],
    ['a date with a time that its format hides', { number: 46_328.5, style: 'date' }, '"2026-11-02T12:00:00"'],
    ['a date and a time', { number: 46_328.354166666664, style: 'moment' }, '"2026-11-02T08:30:00"'],
    ['midnight', { number: 46_328, style: 'moment' }, '"2026-11-02T00:00:00"'],
    ['milliseconds', { number: 46_328.00000001157, style: 'moment' }, '"2026-11-02T00:00:00.001"'],
    ['a time', { number: 0.354166666666667, style: 'time' }, '"08:30:00"'],
    ['a time of a day', { number: 46_328.5, style: 'time' }, '"2026-11-02T12:00:00"'],
    ['more than a day', { number: 1.1041666666666667, style: 'elapsed' }, '"26:30:00"'],
    ['less than no time', { number: -0.5, style: 'elapsed' }, '"-12:00:00"'],
    ['the first day', { number: 1, style: 'date' }, '"1900-01-01"'],
    ['the day before the one that never was', { number: 59, style: 'date' }, '"1900-02-28"'],
    ['the day after it', { number: 61, style: 'date' }, '"1900-03-01"'],
    ['the last day', { number: 2_958_465, style: 'date' }, '"9999-12-31"'],
  ]
  test.each(values)('%s', async (_, cell, value) => {
    const strings = ['<r><t>rich</t></r><r><rPr><b/></rPr><t xml:space="preserve"> text</t></r><rPh><t>no</t></rPh>']
    expect(await written(cell, { strings })).toBe(value)
  })

  test('days count from 1904 in workbooks that say so', async () => {
    expect(await written({ number: 0, style: 'date' }, { is1904: true })).toBe('"1904-01-01"')
    expect(await written({ number: 44_866, style: 'date' }, { is1904: true })).toBe('"2026-11-02"')
  })

  test.each<[string, WrittenCell, string]>([
    ['a formula without a value', { xml: '><f>SUM(A1:A9)</f></c>' }, 'it holds a formula without a value'],
    ['a formula of openpyxl', { xml: '><f>SUM(A1:A9)</f><v></v></c>' }, 'it holds a formula without a value'],
    [
      'a text that is not there',
      { xml: ' t="s"><v>17</v></c>' },
      'it holds the number of a text that the workbook does not hold',
    ],
    [
      'the number of a text that is none',
      { xml: ' t="s"><v>x</v></c>' },
      'it holds the number of a text that the workbook does not hold',
    ],
    ['a number that is none', { xml: '><v>one</v></c>' }, 'it holds a number that is none'],
    [
      'a date before the first day',
      { number: -1, style: 'date' },
      'it holds a date that is not in the years 1900 to 9999',
    ],
    [
      'a date behind the last day',
      { number: 2_958_466, style: 'date' },
      'it holds a date that is not in the years 1900 to 9999',
    ],
  ])('%s rejects its row', async (_, cell, why) => {
    expect(await written(cell)).toContain(`row 2, column 2 (v): ${why}`)
  })

  test('a row that is not UTF-8 is rejected, and the others are loaded', async () => {
    const spoiled = one([['id'], ['ok'], ['§§'], ['fine']], {
      parts: parts =>
        parts.map(part =>
          part.name === 'xl/sharedStrings.xml'
            ? { ...part, data: Buffer.from(Buffer.from(part.data).toString('latin1').replace('Â§', 'Â'), 'latin1') }
            : part,
        ),
    })
    const { lines, refused } = await load(spoiled)
    expect({ lines, refused }).toEqual({
      lines: ['{"id":"ok"}', '{"id":"fine"}'],
      refused: ['row 3 is not valid UTF-8'],
    })
  })
})

describe('the table of a sheet is found', () => {
  const table: Rows = [
    ['id', 'name'],
    [1, 'x'],
    [2, 'y'],
  ]
  const documents = ['{"id":1,"name":"x"}', '{"id":2,"name":"y"}']

  test.each<[string, Rows]>([
    ['in the first row', table],
    ['behind empty rows', [null, [], ...table]],
    ['behind titles', [['Orders of 2026'], null, ['by', 'Ana'].slice(0, 1), ...table]],
    ['with empty rows inside', [...table.slice(0, 2), null, [null, null], ...table.slice(2)]],
    ['with empty cells of some colour', table.map(row => [...(row ?? []), { xml: ' s="1"/>' }, { xml: ' s="1"/>' }])],
  ])('%s', async (_, rows) => {
    for (const size of [1 << 16, 511, 7])
      for (const isInline of [false, true]) {
        const { lines, problem, kind } = await load(one(rows, { isInline }), { size })
        expect({ lines, problem, kind }).toEqual({ lines: documents, problem: '', kind: 'elements' })
      }
  })

  test('what stands above it is said, also if it has several cells', async () => {
    const rows: Rows = [
      ['Report'],
      ['by', 'Ana'],
      null,
      ['a', 'b', 'c', 'd', 'e'],
      [1, 2, 3, 4, 5],
      [6, 7, 8, 9, 10],
      [1, 1, 1, 1, 1],
    ]
    const { lines, found } = await load(one(rows))
    expect(lines[0]).toBe('{"a":1,"b":2,"c":3,"d":4,"e":5}')
    expect(found).toBe('Excel workbook, sheet Sheet1, 5 columns: a, b, c, d, e. Its row 4 names the columns')
  })

  test('empty columns are left out, repeated and missing names are made, and cells behind the names have one', async () => {
    const rows: Rows = [
      [null, 'n', null, 'n', 'two\nlines'],
      [10, 1, null, 2, 3, null, 'note'],
    ]
    const { lines, found } = await load(one(rows))
    expect(lines).toEqual(['{"row":10,"n":1,"n_2":2,"two lines":3,"column7":"note"}'])
    expect(found).toContain('5 columns: row, n, n_2, two lines, column7')
    expect(found).toContain('Sluice calls column 1 row, column 4 n_2, column 7 column7')
  })

  test('a late cell behind all names has a name, too', async () => {
    const rows: Rows = [['a', 'b'], ...Array.from({ length: 300 }, (_, at) => [at, 'x']), [300, 'x', null, 'late']]
    const { lines } = await load(one(rows))
    expect(lines).toHaveLength(301)
    expect(lines[300]).toBe('{"a":300,"b":"x","column4":"late"}')
  })

  test('options name columns, types, rows above and words for missing values', async () => {
    const rows: Rows = [
      ['x', 'y'],
      ['zip', 'total', 'when'],
      [1234, '1.234,5', 'N/A'],
      [99, 7.25, '-'],
    ]
    const of = async (options: DecodeOptions['csv']) => (await load(one(rows), { csv: options })).lines
    expect(await of({ skipLines: 1, types: { zip: 'keyword', total: 'double' }, nullValues: ['N/A', '-'] })).toEqual([
      '{"zip":"1234","total":1234.5}',
      '{"zip":"99","total":7.25}',
    ])
    expect(await of({ skipLines: 2, columns: ['a', 'b', 'c'] })).toEqual([
      '{"a":1234,"b":"1.234,5","c":"N/A"}',
      '{"a":99,"b":7.25,"c":"-"}',
    ])
    expect(await of({ skipLines: 1, columns: ['a', 'b', 'c'], skipHeader: true, empty: 'null' })).toHaveLength(2)
  })

  test('words for missing values are found in columns of numbers, and stay in columns of words', async () => {
    const rows: Rows = [
      ['n', 'w'],
      [1, 'NA'],
      ['NA', 'x'],
      [{ xml: ' t="e"><v>#DIV/0!</v></c>' }, 'y'],
    ]
    const { lines, found } = await load(one(rows))
    expect(lines).toEqual(['{"n":1,"w":"NA"}', '{"w":"x"}', '{"w":"y"}'])
    expect(found).toContain('NA is a missing value in n. Cells with errors are missing values')
  })

  test('a type, or a field of ids, that names no column is refused with a hint', async () => {
    const { problem, code } = await load(one(table), { idColumns: ['Id'] })
    expect({ problem, code }).toEqual({
      code: 'INPUT_MALFORMED',
      problem: 'a.xlsx has a sheet Sheet1, but no column is called Id, which --id-field names. Did you mean id?',
    })
    expect((await load(one(table), { csv: { types: { name: 'long' } } })).refused).toEqual([
      'row 2, column 2 (name): not of the type long',
      'row 3, column 2 (name): not of the type long',
    ])
  })

  test('an empty sheet has no documents', async () => {
    const { lines, found, problem } = await load(one([]))
    expect({ lines, found, problem }).toEqual({
      lines: [],
      found: 'Excel workbook, sheet Sheet1, no rows',
      problem: '',
    })
    expect((await load(one([['a', 'b']]))).lines).toEqual([])
  })

  test('a resume passes over the rows that were read', async () => {
    expect((await load(one(table), { skip: 1 })).lines).toEqual(documents.slice(1))
  })

  test('cells that are merged over rows are said', async () => {
    const merged = (...ranges: readonly string[]) =>
      workbookOf({ sheets: [{ name: 'S', rows: table, merged: ranges }] })
    expect((await load(merged('A1:B1'))).notes).toEqual([])
    expect((await load(merged('A1:B1', 'A2:A3'))).notes).toEqual([
      'a sheet with cells that are merged over rows (1). Only the first row of each has its value',
    ])
  })
})

describe('one sheet is read', () => {
  const sheet = (name: string, state?: string) => ({
    name,
    rows: [['v'], [name]],
    ...(state === undefined ? {} : { state }),
  })
  const book = workbookOf({
    sheets: [sheet('Old', 'hidden'), sheet('Orders'), sheet('Größe & more'), sheet('Keys', 'veryHidden')],
  })

  test('the first one that is not hidden, and the others are said', async () => {
    const { lines, found } = await load(book)
    expect(lines).toEqual(['{"v":"Orders"}'])
    expect(found).toBe(
      'Excel workbook, sheet Orders, 1 column: v. Sluice does not read its other sheets: Old (hidden), Größe & more, Keys (hidden)',
    )
  })

  test.each([
    ['Größe & more', 'Größe & more'],
    ['größe & MORE', 'Größe & more'],
    ['Keys', 'Keys'],
  ])('%s', async (name, is) => {
    expect((await load(book, { sheet: name })).lines).toEqual([`{"v":"${is}"}`])
  })

  test('a sheet that does not exist is refused, with those that do', async () => {
    const { problem, code } = await load(book, { sheet: 'Order' })
    expect({ problem, code }).toEqual({
      code: 'INPUT_UNREADABLE',
      problem:
        'cannot read a.xlsx: no sheet is called Order. Its sheets: Old (hidden), Orders, Größe & more, Keys (hidden). Did you mean Orders?',
    })
  })

  test('a stream is refused as other ZIP archives are', async () => {
    expect((await load(book, { isStored: false })).problem).toContain('has its directory at the end. Save it as a file')
  })

  test('also with prefixes, single quotes, capitals in names and no places of cells', async () => {
    const rows =
      "<x:worksheet xmlns:x='m'><x:sheetData><x:row><x:c t='inlineStr'><x:is><x:t>a</x:t></x:is></x:c></x:row><x:row><x:c><x:v>1</x:v></x:c></x:row></x:sheetData></x:worksheet>"
    const other = one([], {
      parts: all =>
        all.map(part =>
          part.name.endsWith('sheet1.xml') ? { ...part, name: 'xl/Worksheets/Sheet1.XML', data: rows } : part,
        ),
    })
    expect((await load(other)).lines).toEqual(['{"a":1}'])
  })
})

describe('what is no workbook, or a broken one', () => {
  const book = one([['a'], ['x'], ['y']])
  const withPart = (name: string, data: string | Buffer | undefined) =>
    one([['a'], ['x'], ['y']], {
      parts: all => all.flatMap(part => (part.name !== name ? [part] : data === undefined ? [] : [{ ...part, data }])),
    })

  test.each<[string, Buffer, string]>([
    ['without its end', book.subarray(0, -40), 'its directory is missing'],
    ['without a list of sheets', withPart('xl/workbook.xml', undefined), 'it has no list of sheets'],
    ['without its sheet', withPart('xl/worksheets/sheet1.xml', undefined), 'its sheet Sheet1 is missing'],
    ['without its texts', withPart('xl/sharedStrings.xml', undefined), 'the part with its texts is missing'],
    [
      'with XML that ends too early',
      withPart('xl/worksheets/sheet1.xml', '<worksheet><sheetData><row>'),
      'its XML ends too early',
    ],
    ['with an empty sheet part', withPart('xl/worksheets/sheet1.xml', ''), 'its XML ends too early'],
    ['with a DTD', withPart('xl/sharedStrings.xml', '<!DOCTYPE sst [<!ENTITY a "aaa">]><sst/>'), 'has a DTD'],
    [
      'with a tag that is not open',
      withPart('xl/sharedStrings.xml', '<sst></sst></sst>'),
      'closes a tag that is not open',
    ],
    [
      'with rows that stand twice',
      withPart(
        'xl/worksheets/sheet1.xml',
        '<w><sheetData><row r="2"><c><v>1</v></c></row><row r="2"/></sheetData></w>',
      ),
      'its row 2 stands behind row 2',
    ],
    [
      'with a cell twice',
      withPart(
        'xl/worksheets/sheet1.xml',
        '<w><sheetData><row r="1"><c r="A1"><v>1</v></c><c r="A1"><v>1</v></c></row></sheetData></w>',
      ),
      'its row 1 has a column twice',
    ],
    [
      'with too many columns',
      withPart('xl/worksheets/sheet1.xml', '<w><sheetData><row r="1"><c r="ZZZ1"><v>1</v></c></row></sheetData></w>'),
      'has more than 16384 columns',
    ],
    [
      'with a text of 5 MiB',
      withPart('xl/sharedStrings.xml', `<sst><si><t>${'x'.repeat(5 << 20)}</t></si></sst>`),
      'of more than 4 MiB',
    ],
    [
      'with a tag of 5 MiB',
      withPart('xl/sharedStrings.xml', `<sst a="${'x'.repeat(5 << 20)}"/>`),
      'of more than 4 MiB',
    ],
  ])('%s', async (_, bytes, why) => {
    const { problem, code, lines } = await load(bytes)
    expect(problem).toContain(why)
    expect({ code, lines: lines.length }).toEqual({ code: 'INPUT_UNREADABLE', lines: expect.any(Number) })
  })

  test('a row of one text, many times, needs no more memory than a row may have', async () => {
    const cells = Array.from({ length: 3000 }, () => '<c t="s"><v>0</v></c>').join('')
    const bytes = one([['a']], {
      strings: [`<t>${'x'.repeat(32_767)}</t>`],
      parts: all =>
        all.map(part =>
          part.name.endsWith('sheet1.xml')
            ? { ...part, data: `<w><sheetData><row>${cells}</row></sheetData></w>` }
            : part,
        ),
    })
    expect((await load(bytes)).problem).toContain('a row or a text of its sheet has more than 64 MiB')
  })

  test.each<[string, Buffer]>([
    [
      'an OpenDocument file (.ods or .odt)',
      zipOf([
        { name: 'mimetype', data: 'x', method: 0 },
        { name: 'content.xml', data: '<a/>' },
      ]),
    ],
    [
      'a binary workbook (.xlsb)',
      zipOf([
        { name: '[Content_Types].xml', data: '<a/>' },
        { name: 'xl/workbook.bin', data: 'x' },
      ]),
    ],
    [
      'a Word document',
      zipOf([
        { name: '[Content_Types].xml', data: '<a/>' },
        { name: 'word/document.xml', data: '<a/>' },
      ]),
    ],
    ['an encrypted workbook', compound('EncryptedPackage')],
    ['an old Excel workbook (.xls)', compound('Workbook')],
    ['an old or encrypted Office file', compound('WordDocument')],
  ])('%s is refused by its name', async (kind, bytes) => {
    const { problem, code } = await load(bytes)
    expect(code).toBe('INPUT_NOT_JSON')
    expect(problem).toContain(`looks like ${kind}`)
  })

  test('a damaged workbook ends in documents, rejected rows or a clear failure', async () => {
    const cells = (row: number) => [row, `text ${row}`, { number: 46_000 + row, style: 'date' as const }, row % 2 === 0]
    const plain = one([['id', 'name', 'day', 'even'], ...Array.from({ length: 40 }, (_, row) => cells(row))])
    const random = seeded(40).real
    for (let round = 0; round < rounds(150, 20_000); round += 1) {
      const bytes = Buffer.from(plain)
      const cut = random() < 0.2 ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes
      for (let hits = 1 + Math.floor(random() * 3); hits > 0 && cut.length > 8; hits -= 1)
        cut[4 + Math.floor(random() * (cut.length - 4))] = Math.floor(random() * 256)
      const { lines, code } = await load(cut, { size: 1000 })
      expect(['', 'INPUT_UNREADABLE', 'INPUT_TRUNCATED', 'INPUT_NOT_JSON', 'INPUT_MALFORMED']).toContain(code)
      for (const line of lines) JSON.parse(line)
    }
  })

  test('damaged XML in a sound archive, too', async () => {
    const random = seeded(41).real
    for (let round = 0; round < rounds(150, 20_000); round += 1) {
      const bytes = one(
        [
          ['id', 'name', 'day'],
          [1, 'a "quoted" text', { number: 46_000, style: 'date' }],
          [2, 'x', null],
        ],
        {
          parts: all =>
            all.map(part => {
              if (random() < 0.5) return part
              const data = Buffer.from(part.data)
              const at = Math.floor(random() * data.length)
              const kind = random()
              if (kind < 0.3) return { ...part, data: data.subarray(0, at) }
              if (kind < 0.6) return { ...part, data: Buffer.concat([data.subarray(0, at), data.subarray(at + 3)]) }
              data[at] = '<>&"\'/ =1a'.charCodeAt(Math.floor(random() * 10))
              return { ...part, data }
            }),
        },
      )
      const { lines, code } = await load(bytes, { size: 1000 })
      expect(['', 'INPUT_UNREADABLE']).toContain(code)
      for (const line of lines) JSON.parse(line)
    }
  })

  test('a part that is larger than the directory says is refused', async () => {
    const bomb = Buffer.from(`<sst>${'<si/>'.repeat(1000)}</sst>`)
    const bytes = one([['a'], ['x']], {
      parts: all => all.map(part => (part.name === 'xl/sharedStrings.xml' ? { ...part, data: bomb, size: 100 } : part)),
    })
    expect(deflateRawSync(bomb).length).toBeLessThan(100)
    expect((await load(bytes)).problem).toContain('is longer than its directory says')
  })
})

/** The beginning of a file with a directory of streams, as old office programs write it. */
function compound(stream: string): Buffer {
  return Buffer.concat([
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    Buffer.alloc(1024),
    Buffer.from(stream, 'utf16le'),
    Buffer.alloc(1024),
  ])
}
