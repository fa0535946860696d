/** Compares the reader of CSV with csv-parse, and with a set of files that others wrote. */
import { readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { rounds } from '../../../../support/rounds.js'
import { readCsv } from '../../../../support/facts/read-csv.js'
import { type Seeded, seeded } from '../../../../support/random/seeded.js'

interface Written {
  readonly delimiter: string
  readonly quote: string
}

const names = (count: number) => Array.from({ length: count }, (_, at) => `c${at}`)

/** Returns what csv-parse makes of rows, or undefined if their quotes are wrong. Rows of empty cells are no documents. */
function oracle(text: string, { delimiter, quote }: Written, isRelaxed: boolean): string[][] | undefined {
  try {
    const rows = parse(text, {
      delimiter,
      quote,
      escape: quote,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: isRelaxed,
      skip_empty_lines: true,
    })
    return rows.filter(row => row.some(cell => cell !== '')).map(withoutEnd)
  } catch {
    return undefined
  }
}

/** A delimiter behind the last column begins no cell. */
function withoutEnd(row: string[]): string[] {
  return row.length === MOST_CELLS + 1 && row.at(-1) === '' ? row.slice(0, -1) : row
}

/** Reads rows without a header, each with all of its cells, however many they are. Undefined: a row was refused, or its end is missing. */
async function read(text: string, { delimiter, quote }: Written, size: number): Promise<string[][] | undefined> {
  const columns = names(MOST_CELLS)
  const { rows, failure } = await readCsv(text, { size, delimiter, quote, columns, empty: 'null', encoding: 'utf-8' })
  if (failure !== undefined) return undefined
  const read: string[][] = []
  for (const row of rows) {
    if (row === '') continue
    if (!Array.isArray(row)) read.push(columns.map(name => (row as Record<string, string | null>)[name] ?? ''))
    else if (/ cells? for /.test(String(row[0]))) read.push((row[1] as string[]).map(utf8))
    else return undefined
  }
  return read.filter(row => row.some(cell => cell !== ''))
}

/** The cells of a refused row may not be UTF-8, so they are read as Latin-1. */
function utf8(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString()
}

const MOST_CELLS = 5
const PIECES = ['a', 'bc', 'ä', '€', '😀', ' ', '', '1', '\\', '\t', '\u0001', 'x'.repeat(70)]

/** A table as any writer may write it: every cell that has to be quoted is, and some others. */
function table({ below, chance, pick }: Seeded, { delimiter, quote }: Written): string {
  const lineEnd = pick(['\n', '\r\n', '\r'])
  const cell = () => {
    const text = Array.from({ length: below(4) }, () =>
      pick([...PIECES, delimiter, quote, '\n', '\r', '\r\n', "'", '"']),
    ).join('')
    const isQuoted = chance(0.2) || [delimiter, quote, '\n', '\r'].some(one => text.includes(one))
    return isQuoted ? quote + text.replaceAll(quote, quote + quote) + quote : text
  }
  const row = () => Array.from({ length: 1 + below(MOST_CELLS + 1) }, cell).join(delimiter)
  return Array.from({ length: 1 + below(8) }, row).join(lineEnd) + pick(['', lineEnd])
}

/** Text in which anything may be wrong. */
function chaos({ below, pick }: Seeded, { delimiter, quote }: Written): string {
  return Array.from({ length: below(30) }, () =>
    pick(['a', 'b', delimiter, quote, quote, '\n', '\r', '\r\n', 'ä']),
  ).join('')
}

describe('csv-parse reads the same', () => {
  const seeds = Array.from({ length: rounds(20, 400) }, (_, seed) => seed)

  test.each(seeds)('tables, and text that may be broken (seed %d)', async seed => {
    const random = seeded(seed)
    for (let round = 0; round < 20; round += 1) {
      const form = { delimiter: random.pick([',', ';', '\t', '|']), quote: random.pick(['"', "'"]) }
      for (const make of [table, chaos]) {
        const text = make(random, form)
        if (text === '') continue
        const strict = oracle(text, form, false)
        if (make === table) expect(strict).toBeDefined()
        const size = 1 + random.below(text.length)
        const rows = await read(text, form, size)
        // To csv-parse, a quote inside a cell is wrong as well, unless it is told to relax. Then it takes other wrong quotes, too.
        const expected = strict ?? (rows === undefined ? undefined : oracle(text, form, true))
        expect({ text, form, rows }).toEqual({ text, form, rows: expected })
      }
    }
  })
})

describe('files that others wrote (csv-spectrum)', () => {
  const folder = dirname(createRequire(import.meta.url).resolve('csv-spectrum/package.json'))
  const files = readdirSync(join(folder, 'csvs'))

  test('are twelve', () => {
    expect(files).toHaveLength(12)
  })

  test.each(files)('%s', async file => {
    const documents: unknown = JSON.parse(readFileSync(join(folder, 'json', file.replace('csv', 'json')), 'utf8'))
    // A cell that is empty has no field.
    const expected = (Array.isArray(documents) ? (documents as object[]) : [documents as object]).map(row =>
      Object.fromEntries(Object.entries(row).filter(([name, cell]) => cell !== '' && !isOutdated(file, name))),
    )
    const { rows, failure } = await readCsv(readFileSync(join(folder, 'csvs', file)))
    expect(rows.filter(row => row !== '')).toMatchObject(expected)
    expect({ rows: rows.filter(row => row !== '').length, failure }).toEqual({
      rows: expected.length,
      failure: undefined,
    })
  })

  /** The number in this file is not the one in its JSON. */
  function isOutdated(file: string, name: string): boolean {
    return file === 'location_coordinates.csv' && name === 'Contact Phone Number'
  }
})
