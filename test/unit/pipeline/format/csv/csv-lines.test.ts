import { describe, expect, test } from 'vitest'
import { quotationOf } from '../../../../../src/pipeline/format/csv/quotation.js'
import { Rows } from '../../../../../src/pipeline/format/csv/rows.js'
import { type CsvRead, readCsv } from '../../../../support/facts/read-csv.js'

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')
const two = [
  { id: '1', name: 'Chair' },
  { id: '2', name: 'Table' },
]

describe('rows become documents:', () => {
  test.each<[string, string | Buffer, unknown[]]>([
    ['as in RFC 4180', 'id,name\r\n1,Chair\r\n2,Table\r\n', two],
    ['without the last line end', 'id,name\n1,Chair\n2,Table', two],
    ['with carriage returns as line ends', 'id,name\r1,Chair\r2,Table\r', two],
    ['with a byte order mark', '\ufeffid,name\n1,Chair\n2,Table\n', two],
    ['with semicolons', 'id;name\n1;Chair\n2;Table\n', two],
    ['with tabs', 'id\tname\n1\tChair\n2\tTable\n', two],
    ['with pipes', 'id|name\n1|Chair\n2|Table\n', two],
    ['with every cell in quotes', '"id","name"\n"1","Chair"\n"2","Table"\n', two],
    ['with single quotes', "'id','name'\n'1','Chair'\n'2','Table'\n", two],
    ['with the line of Excel that names the delimiter', 'sep=;\r\nid;name\r\n1;Chair\r\n2;Table\r\n', two],
    ['in UTF-16LE', utf16('id\tname\r\n1\tChair\r\n2\tTable\r\n'), two],
    ['in UTF-16BE', utf16('id\tname\r\n1\tChair\r\n2\tTable\r\n').swap16(), two],
    ['in UTF-16 without a byte order mark', utf16('id,name\n1,Chair\n2,Table\n').subarray(2), two],
    ['with blanks around the names of columns', ' id , name\n1,Chair\n2,Table\n', two],
    ['a delimiter in quotes', 'a,b\n"1,2",3\n', [{ a: '1,2', b: '3' }]],
    ['quotes that stand twice', 'a,b\n"a ""b"" c",""""\n', [{ a: 'a "b" c', b: '"' }]],
    ['single quotes that stand twice', "'a','b'\n'it''s','\"x\"'\n", [{ a: "it's", b: '"x"' }]],
    [
      'quotes inside a cell that does not begin with one',
      'a,b\n5" pipe,37°36\'37.8"N\n',
      [{ a: '5" pipe', b: '37°36\'37.8"N' }],
    ],
    [
      'quotes behind a backslash, as Spark and MySQL write them',
      String.raw`a,b
"the \"Fox\", Inc.","C:\\x\\"
"\"",x\y
`,
      [
        { a: 'the "Fox", Inc.', b: 'C:\\x\\' },
        { a: '"', b: 'x\\y' },
      ],
    ],
    [
      'a backslash at the end of a cell',
      'a,b\n"C:\\x\\","D:\\"\n"1","2"\n',
      [
        { a: 'C:\\x\\', b: 'D:\\' },
        { a: '1', b: '2' },
      ],
    ],
    ['line ends in quotes', 'a,b\n"1\n2\r\n3\r4",5\n', [{ a: '1\n2\r\n3\r4', b: '5' }]],
    ['what JSON has to escape', 'a,b\nC:\\x,\u0001\u001f\u007f\n', [{ a: 'C:\\x', b: '\u0001\u001f\u007f' }]],
    ['empty cells, which are left out', 'a,b,c\n1,,\n,"",3\n', [{ a: '1' }, { c: '3' }]],
    ['one column', 'n\n1\n2\n', [{ n: '1' }, { n: '2' }]],
    [
      'blank lines, and rows of empty cells',
      'a,b\n\n1,2\n,\n\r\n3,4\n\n',
      ['', { a: '1', b: '2' }, '', '', { a: '3', b: '4' }, ''],
    ],
    ['names that JSON has to escape', 'a"b,c\\d\n'.replace('a"b', '"a""b"') + '1,2\n', [{ 'a"b': '1', 'c\\d': '2' }]],
    ['Windows-1252', Buffer.from('Größe;Preis\n12 \x80;3,50\n', 'latin1'), [{ Größe: '12 €', Preis: '3,50' }]],
    ['a file with only a header', 'a,b\n', []],
    ['an empty file', '', []],
    [
      'a wide row',
      `${Array.from({ length: 2000 }, (_, at) => `c${at}`).join()}\n${'x,'.repeat(1999)}x\n`,
      [Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`c${at}`, 'x']))],
    ],
  ])('%s', async (_, input, expected) => {
    const whole = await readCsv(input)
    expect(whole).toMatchObject({ rows: expected })
    expect(whole.failure).toBeUndefined()
    // Chunks that end anywhere change nothing.
    const sizes = input.length > 200 ? [999] : Array.from({ length: input.length }, (_, size) => size + 1)
    for (const size of sizes) expect(await readCsv(input, { size })).toEqual(whole)
  })
})

describe('rows that do not fit are refused with their line:', () => {
  test.each<[string, string | Buffer, unknown[]]>([
    ['a cell less', 'a,b\n1\n3,4\n', [['line 2 has 1 cell for 2 columns', ['1']], { a: '3', b: '4' }]],
    ['a cell more', 'a,b\n1,2,3\n', [['line 2 has 3 cells for 2 columns', ['1', '2', '3']]]],
    [
      'behind a row on several lines',
      'a,b\n"1\n\r\n\r2",3\n4\n',
      [{ a: '1\n\r\n\r2', b: '3' }, ['line 6 has 1 cell for 2 columns', ['4']]],
    ],
    [
      'text behind a closing quote',
      'a,b\n"1"x,2\n3,4\n',
      [['line 2: text follows a closing quote', ['"1"x,2']], { a: '3', b: '4' }],
    ],
    [
      'a quote that closes only in a later row',
      'a,b\n1,"2\n3,"4"\n5,6\n',
      [['line 2: text follows a closing quote', ['1,"2']], { a: '3', b: '4' }, { a: '5', b: '6' }],
    ],
    [
      'a byte that is not UTF-8',
      Buffer.from('ä,b\n1,\xe4\n3,4\n'.replace('ä', 'Ã¤'), 'latin1'),
      [['line 2 is not valid UTF-8', ['1', '\xe4']], { ä: '3', b: '4' }],
    ],
    [
      'half a character of UTF-16',
      utf16('a,b\n1,\ud800\n3,4\n'),
      [['line 2 is not valid UTF-16LE', ['1', '\xff']], { a: '3', b: '4' }],
    ],
  ])('%s', async (_, input, expected) => {
    const whole = await readCsv(input)
    expect(whole).toMatchObject({ rows: expected })
    for (let size = 1; size < input.length; size += 1) expect(await readCsv(input, { size })).toEqual(whole)
  })

  test('a quote that is never closed ends the input after all rows before it', async () => {
    const input = 'a,b\n1,2\n"3\n4,5\n6,7\n'
    for (let size = 1; size <= input.length; size += 1) {
      const { rows, failure } = await readCsv(input, { size })
      expect(rows).toEqual([{ a: '1', b: '2' }])
      expect(failure).toEqual({
        code: 'INPUT_MALFORMED',
        message: expect.stringContaining(
          'a.csv ends inside a quoted cell. The quote of the row in line 3 is never closed',
        ) as string,
      })
    }
  })
})

describe('a header', () => {
  test('that repeats one name very often names each column at once', async () => {
    const { rows, failure } = await readCsv(`${'a,'.repeat(50_000)}a\n1\n`)
    expect(failure).toBeUndefined()
    expect(rows).toMatchObject([['line 2 has 1 cell for 50001 columns', ['1']]])
  })

  test.each([['a,"b\n', 'the quotes of its first row are wrong']])(
    'that cannot name the columns ends the input at once: %j',
    async (input, problem) => {
      for (const size of [1, 100]) {
        const { rows, failure } = await readCsv(input, { size })
        expect({ rows, failure }).toEqual({
          rows: [],
          failure: { code: 'INPUT_MALFORMED', message: `a.csv is not valid csv: ${problem}` },
        })
      }
    },
  )

  test.each([
    // R (write.csv) and pandas.
    ['"","a"\n"x",1\n', [{ row: 'x', a: '1' }], 'Names are missing, so Sluice calls column 1 row'],
    ['a,,c\n1,2,3\n', [{ a: '1', column2: '2', c: '3' }], 'Names are missing, so Sluice calls column 2 column2'],
    ['a,b,a\n1,2,3\n', [{ a: '1', b: '2', a_2: '3' }], 'The file repeats names, so Sluice calls column 3 a_2'],
    ['a,a_2,a\n1,2,3\n', [{ a: '1', a_2: '2', a_3: '3' }], 'The file repeats names, so Sluice calls column 3 a_3'],
    [
      ',row,row\n1,2,3\n',
      [{ row_2: '1', row: '2', row_3: '3' }],
      'Names are missing or repeated, so Sluice calls column 1 row_2, column 3 row_3',
    ],
    // A delimiter at the end of each row, also if the header has none.
    ['a,b,\n1,2,\n', [{ a: '1', b: '2' }], 'Names are missing, so Sluice calls column 3 column3'],
    [
      'a,b\n1,2,\n3,4,\n',
      [
        { a: '1', b: '2' },
        { a: '3', b: '4' },
      ],
      '',
    ],
    // R (write.table): the names of rows have no column in the header.
    [
      'a b\n"x" 1 2\n"y" 3 4\n',
      [
        { row: 'x', a: '1', b: '2' },
        { row: 'y', a: '3', b: '4' },
      ],
      'Names are missing, so Sluice calls column 1 row',
    ],
  ])('without a name for each column still names each: %j', async (input, expected, note) => {
    const options = input.startsWith('a b') ? { delimiter: ' ' } : {}
    for (const size of [1, 100]) {
      const { rows, failure, found } = await readCsv(input, { size, ...options })
      expect({ rows, failure }).toEqual({ rows: expected, failure: undefined })
      expect(found ?? '').toContain(note)
      expect(note === '' && /so Sluice calls/.test(found ?? '')).toBe(false)
    }
  })

  test('an empty cell of a column that the file does not name is never null', async () => {
    expect((await readCsv('a,\n,\n1,\n', { empty: 'null' })).rows.filter(row => row !== '')).toEqual([{ a: '1' }])
  })

  test('is what the user says, and then the first row is a row', async () => {
    const columns = ['id', 'name']
    expect((await readCsv('1,Chair\n2,Table\n', { columns })).rows).toEqual(two)
    expect((await readCsv('x,y\n1,Chair\n2,Table\n', { columns, skipHeader: true })).rows).toEqual(two)
    expect((await readCsv(',x\n1,Chair\n2,Table\n', { columns, skipHeader: true })).rows).toEqual(two)
  })
})

describe('blanks around a cell in quotes belong to no cell', () => {
  test.each([
    ['a, "b"\n1, "2"\n', [{ a: '1', b: '2' }]],
    ['a,b\n "1, x" , "2 ""y""" \n', [{ a: '1, x', b: '2 "y"' }]],
    ['a,b\n"1" ,2\n', [{ a: '1', b: '2' }]],
    // Text that only holds quotes stays as it is.
    ['a,b\n "x" and "y",2\n', [{ a: ' "x" and "y"', b: '2' }]],
    [
      'a,b\n 5" pipe,2\n "open,3\n',
      [
        { a: ' 5" pipe', b: '2' },
        { a: ' "open', b: '3' },
      ],
    ],
    ['a,b\n  ,  1\n', [{ a: '  ', b: '  1' }]],
  ])('%j', async (input, expected) => {
    for (let size = 1; size <= input.length; size += 1) {
      const { rows, failure } = await readCsv(input, { size })
      expect({ rows, failure }).toEqual({ rows: expected, failure: undefined })
    }
  })
})

describe('the fault is named:', () => {
  const found = async (...given: Parameters<typeof readCsv>): Promise<CsvRead['found']> =>
    (await readCsv(...given)).found
  test.each<[string, string | Buffer, string]>([
    ['commas', 'a,b\n1,2\n', 'CSV with commas, UTF-8, 2 columns: a, b'],
    ['semicolons beside decimal commas', 'a;b;c\n1,5;2,5;3,5\n', 'CSV with semicolons, UTF-8, 3 columns: a, b, c'],
    ['commas beside semicolons', 'a,b\n1;2,3\n1;2;3,4\n', 'CSV with commas, UTF-8, 2 columns: a, b'],
    ['tabs beside commas', 'name\tcity\nChair, small\tRome\n', 'CSV with tabs, UTF-8, 2 columns: name, city'],
    ['an encoding', Buffer.from('a;b\n\xe4;1\n', 'latin1'), 'CSV with semicolons, Windows-1252, 2 columns: a, b'],
    ['one column', 'n\n1\n', 'CSV with commas, UTF-8, 1 column: n'],
    [
      'UTF-8 although one byte of it is broken',
      Buffer.concat([Buffer.from('ä;b\nö;ü\n'), Buffer.of(0xe4, 0x0a)]),
      'CSV with semicolons, UTF-8, 2 columns: ä, b',
    ],
    ['a broken row among others', 'a;b\n1;2\n"5" x;3\n4;5\n', 'CSV with semicolons, UTF-8, 2 columns: a, b'],
    [
      'many columns',
      Array.from({ length: 30 }, (_, at) => `c${at}`).join(),
      `CSV with commas, UTF-8, 30 columns: ${Array.from({ length: 20 }, (_, at) => `c${at}`).join(', ')}, …`,
    ],
  ])('%s', async (_, input, expected) => {
    expect(await found(input)).toBe(expected)
    expect(await found(input, { size: 1 })).toBe(expected)
  })

  test('and what the user says is not looked for', async () => {
    expect(await found('a;b,c\n1;2,3\n', { delimiter: ',', quote: '' })).toBe(
      'CSV with commas, no quotes, UTF-8, 2 columns: a;b, c',
    )
    expect((await readCsv('a,b\n5" pipe,"x\n', { quote: '' })).rows).toEqual([{ a: '5" pipe', b: '"x' }])
    const latin = Buffer.from('a\n\xe4\xf6\n', 'latin1')
    expect((await readCsv(latin, { encoding: 'utf-8' })).rows).toEqual([['line 2 is not valid UTF-8', ['\xe4\xf6']]])
  })
})

test('quotes behind a backslash that the first rows do not show are refused with the option that takes them', async () => {
  const text = `a,b\n${'"3","4"\n'.repeat(10_000)}"5 \\"x\\" 6","7"\n`
  const { rows } = await readCsv(text)
  expect(rows.at(-1)).toEqual([
    String.raw`line 10002: text follows a closing quote. If a backslash stands before quotes in cells, pass --quote '\"'`,
    [String.raw`"5 \"x\" 6","7"`],
  ])
  expect((await readCsv(text, { quote: String.raw`\"` })).rows.at(-1)).toEqual({ a: '5 "x" 6', b: '7' })
  const json = String.raw`"{\"n\":[1,\"x\\\"y\"]}",1`
  const typed = await readCsv(`a,b\n${json}\n`, { quote: String.raw`\"`, types: { a: 'object' } })
  expect(typed.rows).toEqual([{ a: { n: [1, 'x"y'] }, b: '1' }])
})

describe('very many cells', () => {
  test('of a row are counted, and the row is refused as it stands', async () => {
    const { rows } = await readCsv(`a,b\n${','.repeat(100_000)}\n1,2\n`)
    expect(rows).toEqual([['line 2 has 100001 cells for 2 columns', [','.repeat(100_000)]], { a: '1', b: '2' }])
  })

  test('of the first row are no columns', async () => {
    const names = Array.from({ length: 100_001 }, (_, at) => `c${at}`).join()
    const { failure } = await readCsv(`${names}\n1\n`)
    expect(failure?.message).toContain('its first row has 100001 cells, and Sluice reads at most 100000 columns')
  })
})

test('a long row in very small chunks is not read anew with each of them', { tags: 'long' }, () => {
  const rows = new Rows(',', quotationOf('"'), 1)
  const seen = new Set<Buffer>()
  for (const byte of Buffer.from(`1,"${'x'.repeat(200_000)}`)) {
    rows.add(Buffer.of(byte))
    expect(rows.next()).toBeUndefined()
    rows.keep()
    seen.add(rows.bytes)
  }
  expect(seen.size).toBeLessThan(20_000)
  rows.add(Buffer.from('"\n'))
  expect(rows.next()).toBe('row')
  expect(rows.texts()[1]).toHaveLength(200_000)
})

test.each([
  '{"a":1}\n{"a":2}\n',
  '{"a":1,"b":"x"}\n',
  '[1,2]\n[3]\n',
  '[{"a":1},\n{"a":2}]\n',
  '\n{\n"a":1\n}\n',
  '["a","b"]\n',
])('JSON in place of names is refused: %j', async text => {
  expect((await readCsv(text)).failure).toEqual({
    code: 'INPUT_MALFORMED',
    message: 'a.csv is not valid csv: it begins with JSON',
  })
  // Somebody may have such cells.
  expect(await readCsv(text, { columns: ['a'], quote: '' })).not.toHaveProperty('failure')
  if (text.startsWith('{"a":1}'))
    expect((await readCsv(text, { skipLines: 0 })).rows).toEqual([{ '{"a":1}': '{"a":2}' }])
})

test.each(['[a],b\n1,2\n', '{a},b\n1,2\n', '[],b\n1,2\n'])('brackets in names are names: %j', async text => {
  expect((await readCsv(text)).rows).toHaveLength(1)
})

describe('missing values', () => {
  const read = async (text: string, options: Parameters<typeof readCsv>[1] = {}) => {
    const whole = await readCsv(text, options)
    for (const size of [1, 3, 10]) expect(await readCsv(text, { ...options, size })).toEqual(whole)
    return whole
  }

  test('in a column of numbers, dates or booleans no cell is a text such as NA, if types are inferred', async () => {
    const text =
      'n,at,ok,zip\n1,NA,true,01\nNA,2026-01-02,\\N,NULL\n#N/A,2026-01-02T03:04:05Z,false,02\n NaN,2026-01-03 10:00,null,\n'
    expect(await read(text, { inferTypes: true })).toEqual({
      found:
        'CSV with commas, UTF-8, 4 columns: n, at, ok, zip. NA, #N/A, NaN, NULL, null and \\N are missing values in n, at, ok, zip',
      rows: [
        { n: 1, ok: true, zip: '01' },
        { at: '2026-01-02' },
        { at: '2026-01-02T03:04:05Z', ok: false, zip: '02' },
        { at: '2026-01-03 10:00' },
      ],
    })
    expect((await read('n,m\nNA,1\n2,\n', { inferTypes: true, empty: 'null' })).rows).toEqual([
      { n: null, m: 1 },
      { n: 2, m: null },
    ])
  })

  test('a column of text keeps it, and so does every column if nothing says that it has another type', async () => {
    const text = 'country,n\nNA,NA\nDE,1\n'
    expect((await read(text, { inferTypes: true })).rows).toEqual([{ country: 'NA' }, { country: 'DE', n: 1 }])
    expect((await read(text)).rows).toEqual([
      { country: 'NA', n: 'NA' },
      { country: 'DE', n: '1' },
    ])
    expect((await read('a\nNA\n1 of 2\n', { inferTypes: true })).rows).toEqual([{ a: 'NA' }, { a: '1 of 2' }])
  })

  test('a column with a type of its own takes it, unless the type is one of text', async () => {
    const types = { n: 'long', at: 'date', name: 'keyword', v: 'boolean' } as const
    expect((await read('n,at,name,v,x\nNA,NA,NA,NA,NA\nN.A.,1,2,1,3\n', { types })).rows).toEqual([
      { name: 'NA', x: 'NA' },
      ['line 3, column 1 (n): not of the type long', ['N.A.', '1', '2', '1', '3']],
    ])
  })

  test('the option names all of them, in every column', async () => {
    const text = 'name,n\n-,1\nNA,-\n?,"-"\n-,\n'
    expect((await read(text, { nullValues: ['-', '?'], types: { n: 'long' } })).rows).toEqual([
      { n: 1 },
      { name: 'NA' },
      '',
      '',
    ])
    expect((await read('n\nNA\n1\n', { nullValues: [], inferTypes: true })).rows).toEqual([{ n: 'NA' }, { n: 1 }])
  })

  test('text behind the first rows changes no column, and is loaded as text', async () => {
    const rows = Array.from({ length: 20_000 }, (_, at) => `${at},NA\n`).join('')
    const { rows: found } = await readCsv(`a,b\n${rows}x,y\nNA,NA\n`, { inferTypes: true, size: 10_000 })
    expect(found.slice(-3)).toEqual([{ a: 19_999 }, { a: 'x', b: 'y' }, ''])
  })
})

describe('lines above the names of the columns', () => {
  const read = async (text: string, options: Parameters<typeof readCsv>[1] = {}) => {
    const whole = await readCsv(text, options)
    for (const size of [1, 3, 10]) expect(await readCsv(text, { ...options, size })).toEqual(whole)
    expect(whole.failure).toBeUndefined()
    return { ...whole, rows: whole.rows.filter(row => row !== '') }
  }
  const documents = [
    { id: '1', name: 'Chair' },
    { id: '2', name: 'Table' },
  ]
  const table = 'id,name\n1,Chair\n2,Table\n'

  test.each([
    ['a comment', 1, `# of 2026\n${table}`],
    ['comments with delimiters and quotes', 2, `# it's "new, and big\n#\n${table}`],
    ['a comment of as many cells', 1, `# first, second\n${table}`],
    ['a title', 1, `Sales report 2026\n${table}`],
    ['a title and a blank line', 1, `Sales report 2026\r\n\r\n${table.replaceAll('\n', '\r\n')}`],
    [
      'a title and a date, padded as in spreadsheets',
      3,
      `Sales report,,\n2026-11-29,,\n,,\nid,name,n\n1,Chair,\n2,Table,\n`,
    ],
    ['a title above semicolons', 1, `Sales\n${table.replaceAll(',', ';')}`],
    ['a comment above a table of other rows', 1, '# a\nid,name\n1,Chair\n2,Table\n3\n'.replace('\n3\n', '\n')],
  ])('are skipped, and said: %s', async (_, lines, text) => {
    const { rows, found } = await read(text)
    expect(rows).toEqual(documents)
    expect(found?.split('. ').at(-1)).toBe(`Sluice skips ${lines === 1 ? '1 line' : `${lines} lines`} above it`)
  })

  test('a comment above one column is skipped', async () => {
    expect((await read('# of 2026\nn\n1\n2\n')).rows).toEqual([{ n: '1' }, { n: '2' }])
  })

  test('a title above text in two columns is known by the blank line behind it', async () => {
    expect((await read('Staff\n\nname,town\nAnn,Rome\nBob,Bonn\n')).rows).toEqual([
      { name: 'Ann', town: 'Rome' },
      { name: 'Bob', town: 'Bonn' },
    ])
  })

  test.each([
    ['names that begin with a number sign', '#id,name\n1,Chair\n', [{ '#id': '1', name: 'Chair' }]],
    [
      'the same behind a blank',
      '# id,name\n1,Chair\n2,Table\n',
      [
        { '# id': '1', name: 'Chair' },
        { '# id': '2', name: 'Table' },
      ],
    ],
    [
      'names of rows, as R writes them',
      'x\n"a",5\n"b",6\n"c",7\n',
      [
        { row: 'a', x: '5' },
        { row: 'b', x: '6' },
        { row: 'c', x: '7' },
      ],
    ],
    [
      'one name above nameless columns',
      'id,,\n1,2,3\n4,5,6\n',
      [
        { id: '1', column2: '2', column3: '3' },
        { id: '4', column2: '5', column3: '6' },
      ],
    ],
  ])('are not seen in %s', async (_, text, expected) => {
    const { rows, found } = await read(text)
    expect(rows).toEqual(expected)
    expect(found).not.toContain('above')
  })

  test('above rows of numbers no title is seen: each row is refused', async () => {
    expect((await read('id\n1,2,3\n4,5,6\n')).rows).toMatchObject([
      ['line 2 has 3 cells for 1 column', ['1', '2', '3']],
      ['line 3 has 3 cells for 1 column', ['4', '5', '6']],
    ])
  })

  test('the option counts them, whatever they are, and a refused row has its line in the file', async () => {
    const { rows, found } = await read(`a,b,c\n"open\n${table}3\n`, { skipLines: 2 })
    expect(rows).toEqual([...documents, ['line 6 has 1 cell for 2 columns', ['3']]])
    expect(found).toMatch(/\. Sluice skips 2 lines above it$/)
    expect((await read(`# a\n${table}`, { skipLines: 0 })).rows).toHaveLength(3)
    expect((await read(`sep=;\nTitle\n${table.replaceAll(',', ';')}`, { skipLines: 1 })).rows).toEqual(documents)
    expect((await read(`Title\n${table}`, { skipLines: 2, columns: ['id', 'name'] })).rows).toEqual(documents)
    expect((await read('Title\n', { skipLines: 9 })).rows).toEqual([])
  })

  test('more lines than fit into the part of the file that is looked at are refused', async () => {
    const { failure } = await readCsv(`${'x'.repeat(70_000)}\n${table}`, { skipLines: 1 })
    expect(failure?.message).toContain('--skip-lines is 1, but these lines have more than 64 KiB')
  })
})
