import { describe, expect, test } from 'vitest'
import { csvLines } from '../../../../../src/pipeline/format/csv/csv-lines.js'
import { readCsv } from '../../../../support/facts/read-csv.js'

/** Returns the numbers of a column with these cells, or the reason why a row is rejected. */
async function read(cells: readonly string[], more: Parameters<typeof readCsv>[1] = { types: { n: 'double' } }) {
  const text = `id\tn\n${cells.map((cell, at) => `${at}\t${cell}\n`).join('')}`
  const { rows, found } = await readCsv(text, { delimiter: '\t', ...more })
  const values = rows.map(row => (Array.isArray(row) ? String(row[0]) : (row as { n?: unknown }).n))
  return { values, found }
}

describe('numbers of a column with a type', () => {
  test.each([
    ['1.234,56', ['1.234,56', '12,50', '1.234'], [1234.56, 12.5, 1234]],
    ['1,234.56', ['1,234.56', '-12.50', '1,234'], [1234.56, -12.5, 1234]],
    ['several separators', ['1.234.567', '12'], [1_234_567, 12]],
    ['blanks between thousands', ['1 234,5', '12', '-3 000'], [1234.5, 12, -3000]],
    ['narrow blanks', ['1\u202f234,5', '1\u00a0234,5'], [1234.5, 1234.5]],
    ['apostrophes', ["1'234.50", '1’000'], [1234.5, 1000]],
    ['a currency before', ['€ 12,00', '€ 1.234,56', '-€ 3,10', '€ -3,10'], [12, 1234.56, -3.1, -3.1]],
    ['a currency behind', ['12,00 €', '1.234,56€'], [12, 1234.56]],
    ['the code of a currency', ['EUR 12.50', 'EUR 1,000.00'], [12.5, 1000]],
    ['percent', ['12 %', '7,5%'], [12, 7.5]],
    ['a decimal comma', ['1,5', '0,25'], [1.5, 0.25]],
  ])('are read in the form of all of them: %s', async (_, cells, expected) => {
    const { values, found } = await read(cells)
    expect(values).toEqual(expected)
    expect(found).toContain('Numbers in n are written as in 1')
  })

  test('can be whole, with separators', async () => {
    const { values } = await read(['1.234.567.890', '12.000', '2.000.000'], { types: { n: 'long' } })
    expect(values).toEqual([1_234_567_890, 12_000, 2_000_000])
  })

  test.each([
    ['only three digits behind one separator', ['1,234', '5,678'], 'line 2'],
    ['two forms', ['1.234,56', '1,234.56'], 'line 2'],
    ['two units', ['€ 12.00', '$ 12.00'], 'line 2'],
    ['a unit that some lack', ['12.00', '$ 12.00'], 'line 3'],
    ['separators at other places', ['1.23.456', '12,34,567'], 'line 2'],
    ['a cell in another form', ['1.234,56', '5,6', '1.5'], 'line 2'],
    ['a later cell with another unit', ['€ 1', '€ 2', '3 EU'], 'line 4'],
  ])('are rejected if it is not clear how they are meant: %s', async (_, cells, line) => {
    const { values } = await read(cells)
    expect(values.find(value => typeof value === 'string')).toBe(`${line}, column 2 (n): not of the type double`)
  })

  test('behind the first 64 KiB, a cell in another form is rejected, and a cell that looks plain has the form of the others', async () => {
    const { values } = await read([...Array.from({ length: 8000 }, (_, at) => `${at % 1000}.234,56`), '1.5', '1.234'])
    expect(values.at(0)).toBe(234.56)
    expect(values.slice(-2)).toEqual(['line 8002, column 2 (n): not of the type double', 1234])
  })

  test('one cell with a comma does not make thousands of many decimals', async () => {
    const { values } = await read(['1.234', '2.345', '1,5'])
    expect(values).toEqual([1.234, 2.345, 'line 4, column 2 (n): not of the type double'])
  })

  test('plain numbers are read as before, and no note is shown', async () => {
    const { values, found } = await read(['1.234', '5', 'x'])
    expect(values).toEqual([1.234, 5, 'line 4, column 2 (n): not of the type double'])
    expect(found).not.toContain('Numbers')
  })
})

describe('points between three digits, beside semicolons', () => {
  const semicolons = async (cells: readonly string[], more: Parameters<typeof readCsv>[1]) =>
    (await readCsv(`id;n\n${cells.map((cell, at) => `${at};${cell}\n`).join('')}`, more)).found
  const note =
    'Sluice reads the points in the numbers of n as decimal points. If they separate thousands, save the file without thousands separators'

  test.each([
    [['1.234', '5.678']],
    [['-1.234', '999', '0', '5.678']],
    [['1.234', 'NA', '5.678']],
    [['1.234', '2.345', '1,5']],
  ])('a note says that they may separate thousands: %j', async cells => {
    for (const more of [{ types: { n: 'double' } }, { inferTypes: true }] as const)
      expect(await semicolons(cells, more)).toContain(note)
    expect(await semicolons([...cells, 'x'], { types: { n: 'float' } })).toContain(note)
  })

  test.each([
    ['one has other digits', ['1.234', '5.67']],
    ['one begins with zero', ['1.234', '0.567']],
    ['one has more digits', ['1.234', '5678']],
    ['no point', ['123', '456']],
    ['two points, so that they surely do', ['1.234', '5.678.901']],
    ['text beside them', ['1.234', 'x']],
  ])('no note: %s', async (_, cells) => {
    expect(await semicolons(cells, { inferTypes: true })).not.toContain('decimal points')
  })

  test('no note beside other delimiters, and in columns that are text', async () => {
    const cells = ['1.234', '5.678']
    expect((await read(cells, { inferTypes: true })).found).not.toContain('decimal points')
    for (const more of [{}, { types: { n: 'keyword' } }, { types: { n: 'long' } }] as const)
      expect(await semicolons(cells, more)).not.toContain('decimal points')
  })
})

describe('numbers of a column without a type', () => {
  test('stay text. With --infer-types, a note says how to load them', async () => {
    const cells = ['1.234,56', '€', '12,50'].filter(cell => cell !== '€')
    const { values, found } = await read(cells, { inferTypes: true })
    expect(values).toEqual(cells)
    expect(found).toMatch(/\. n stays text\. To load n as numbers, pass --types n:double$/)
    expect((await read(cells, {})).found).not.toContain('stays text')
  })

  test('have no option if the name of the column has a comma', async () => {
    const { found } = await readCsv('"n, net";m\n1.234,56;x\n0,10;y\n', { inferTypes: true })
    expect(found).toMatch(/\. n, net stays text$/)
  })

  test('are not named if some cells are other text', async () => {
    const { found } = await read(['1.234,56', 'see note', '12,50'], { inferTypes: true })
    expect(found).not.toContain('stays text')
  })
})

test.each([
  ['ja', true],
  ['Nein', false],
  ['oui', true],
  ['non', false],
  ['yes', true],
  ['N', false],
  ['WAHR', true],
  ['falsch', false],
])('%s is a boolean if the column has that type', async (cell, expected) => {
  expect((await read([cell], { types: { n: 'boolean' } })).values).toEqual([expected])
  expect((await read([cell], { inferTypes: true })).values).toEqual([cell])
})

describe('a column that stays text', () => {
  const found = async (cells: readonly string[], showsCells = false) => {
    const { found: text = '', offered } = await csvLines(
      'a.csv',
      (async function* () {
        yield await Promise.resolve(
          Buffer.from(`n,x\n${cells.map(cell => `"${cell.replaceAll('"', '""')}",1\n`).join('')}`),
        )
      })(),
      { inferTypes: true },
      { showsCells },
    )
    return [text.split('columns: n, x')[1], offered]
  }
  const numbers = Array.from({ length: 30 }, (_, n) => String(n))

  test.each([
    [['ja', 'nein', 'ja'], 'boolean', '. n stays text. To load n as truth values, pass --types n:boolean'],
    [['yes', 'no'], 'boolean', '. n stays text. To load n as truth values, pass --types n:boolean'],
    [
      ['{"a":"b"}', '[1,2]'],
      'object',
      '. n stays text, although its cells are JSON. To load n as objects, pass --types n:object',
    ],
    [['12 %', '3 %'], 'double', '. n stays text. To load n as numbers, pass --types n:double'],
  ])('is offered the type that fits all its cells: %j', async (cells, type, said) => {
    expect(await found(cells)).toEqual([said, { n: type }])
  })

  test.each([[['ja', 'ja']], [['f', 'm']], [['{a', '{b']], [['0', '1']], [['true', 'false']], [['a', 'b']], [numbers]])(
    'is nothing else if its cells say so: %j',
    async cells => {
      expect(await found(cells)).toEqual(['', {}])
    },
  )

  test('is named as a shell needs it, in one option for all columns', async () => {
    const rows = 'Betrag (€);bezahlt\n1.234,50;ja\n12,00;nein\n'
    const { found: text = '' } = await readCsv(rows, { inferTypes: true })
    expect(text.split('bezahlt. ')[1]).toBe(
      "Betrag (€) stays text. bezahlt stays text. To load these columns with types, pass --types 'Betrag (€):double,bezahlt:boolean'",
    )
  })

  test('although most of its cells are numbers says which are not', async () => {
    expect(await found([...numbers, 'unknown', '?'], true)).toEqual([
      '. n stays text: most of its cells are numbers, but not unknown and ?. If they mean that a value is missing, pass --null-values unknown,?',
      {},
    ])
    expect(await found([...numbers, 'unknown'])).toEqual([
      '. n stays text: most of its cells are numbers, but not all. `sluice look` shows the others',
      {},
    ])
  })
})
