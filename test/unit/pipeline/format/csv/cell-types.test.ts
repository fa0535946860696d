import { describe, expect, test } from 'vitest'
import { decimalIn } from '../../../../../src/pipeline/format/csv/cell-types.js'
import { readCsv } from '../../../../support/facts/read-csv.js'
import { decode } from '../../../../../src/pipeline/format/decode.js'
import type { CsvOptions } from '../../../../../src/pipeline/format/formats.js'

/** Returns the JSON of each cell, or `rejected`. */
async function written(cells: readonly string[], csv: CsvOptions): Promise<string[]> {
  const bytes = Buffer.from(`${cells.map((_, at) => `c${at}`).join(';')}\n${cells.join(';')}\n`)
  async function* chunk(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(bytes)
  }
  const lines = await decode({ id: 0, name: 'a', open: chunk }, chunk(), {
    format: 'csv',
    csv: { delimiter: ';', ...csv },
  })
  let text = ''
  for await (const part of lines.bytes) text += String(part)
  if (!text.startsWith('{')) return ['rejected']
  const fields = text
    .trim()
    .slice(1, -1)
    .split(/,(?="c\d+":)/)
  return fields.map(field => field.replace(/^"c\d+":/, ''))
}

describe('with --infer-types', () => {
  test.each([
    '0',
    '-1',
    '42',
    '9007199254740991',
    '-9007199254740991',
    '1.5',
    '-0.25',
    '1.50',
    '0.1',
    '123456789.123456',
    'true',
    'false',
  ])('%s is written as it stands', async cell => {
    expect(await written([cell], { inferTypes: true })).toEqual([cell])
    expect(JSON.parse(cell)).toBeDefined()
  })

  test.each([
    '007',
    '-0',
    '+1',
    '9007199254740992',
    '9007199254740993',
    '12345678901234567890',
    '1e5',
    '.5',
    '5.',
    '1,5',
    '1.2.3',
    '-',
    '--1',
    '1-2',
    'True',
    'TRUE',
    'truest',
    'Infinity',
    '0x10',
    '0.1234567890123456',
    '123456789012.1234',
    '00.5',
    '-.5',
  ])('%j stays text', async cell => {
    expect(await written([cell], { inferTypes: true })).toEqual([JSON.stringify(cell)])
  })

  test.each([' 1', '1 ', '  -0.5 ', ' true'])('blanks around %j are no part of the value', async cell => {
    const [value = ''] = await written([cell], { inferTypes: true })
    expect(JSON.parse(value)).toBe(JSON.parse(cell))
  })

  test('a number in quotes is a number, and --types decides before it', async () => {
    expect(await written(['"42"', '42', '43'], { inferTypes: true, types: { c1: 'keyword' } })).toEqual([
      '42',
      '"42"',
      '43',
    ])
  })
})

describe('with --types', () => {
  test.each([
    ['long', '42', '42'],
    ['long', ' +007 ', '7'],
    ['long', '-9223372036854775808', '-9223372036854775808'],
    ['long', '9007199254740993', '9007199254740993'],
    ['unsigned_long', '18446744073709551615', '18446744073709551615'],
    ['byte', '-128', '-128'],
    ['short', '32767', '32767'],
    ['integer', '2147483647', '2147483647'],
    ['double', '3.14', '3.14'],
    ['double', '3,14', '3.14'],
    ['double', '.5', '0.5'],
    ['double', '5.', '5'],
    ['double', '-0', '-0'],
    ['double', '1e-7', '1e-7'],
    ['float', '007.50', '7.50'],
    ['double', '12345678901234567890.5', '12345678901234567890.5'],
    ['boolean', 'TRUE', 'true'],
    ['boolean', 'f', 'false'],
    ['double', '1.234.567.890.123.456,70', '1234567890123456.70'],
    ['boolean', '1', 'true'],
    ['boolean', '0', 'false'],
    ['date', '2024-01-01', '"2024-01-01"'],
    ['keyword', '42', '"42"'],
    ['ip', '::1', '"::1"'],
  ] as const)('a cell of the type %s: %j', async (type, cell, expected) => {
    expect(await written([cell], { types: { c0: type } })).toEqual([expected])
    expect(() => JSON.parse(expected) as unknown).not.toThrow()
  })

  test.each([
    ['long', '1.5'],
    ['long', 'x'],
    ['long', '9223372036854775808'],
    ['unsigned_long', '-1'],
    ['byte', '128'],
    ['integer', '1e3'],
    ['double', '1.23,5'],
    ['double', '1e999'],
    ['double', '.'],
    ['double', 'NaN'],
    ['double', '0x1'],
    ['boolean', 'perhaps'],
    ['long', ' '],
  ] as const)('a cell that does not fit the type %s rejects its row: %j', async (type, cell) => {
    expect(await written([cell], { types: { c0: type } })).toEqual(['rejected'])
  })

  test('the reason names line and column, and not the cell', async () => {
    const { rows } = await readCsv('id,price\n1,secret\n2,3\n', { types: { price: 'double' } })
    expect(rows).toEqual([['line 2, column 2 (price): not of the type double', ['1', 'secret']], { id: '2', price: 3 }])
  })

  test('beside other delimiters than semicolons, a comma may stand between thousands', async () => {
    expect((await readCsv('a,b\n"1,500",2\n', { types: { a: 'double' } })).rows).toHaveProperty(
      '0.0',
      'line 2, column 1 (a): not of the type double',
    )
  })

  test('a column that the file lacks ends the input at once', async () => {
    const { failure } = await readCsv('a,b\n1,2\n', { types: { A: 'long' } })
    expect(failure?.message).toBe('a.csv is not valid csv: no column is called A, which --types names. Did you mean a?')
  })

  test('decimals keep their value', () => {
    for (const text of ['0', '1', '-1', '00', '+1.5', '.5', '5.', '1e5', '1E+5', '-0.0', '123.4500'])
      expect(Number(decimalIn(text))).toBe(Number(text))
  })
})

describe('with --empty null', () => {
  test('empty cells are null, and a row of them is still a blank line', async () => {
    expect((await readCsv('a,b\n1,\n,\n"",2\n', { empty: 'null', inferTypes: true })).rows).toEqual([
      { a: 1, b: null },
      '',
      { a: null, b: 2 },
    ])
  })
})
