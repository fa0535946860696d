/** Compares the kernel with plain JavaScript, byte for byte, and both with csv-parse. */
import { readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { isSluiceError } from '../../../../../src/base/failure/failure.js'
import { refusedLineIn } from '../../../../../src/base/text/bytes.js'
import { csvLines } from '../../../../../src/pipeline/format/csv/csv-lines.js'
import { openUsualRows } from '../../../../../src/pipeline/format/csv/usual-rows.js'
import { type CellType, cellTypes, type CsvOptions } from '../../../../../src/pipeline/format/formats.js'
import {
  parsedRows,
  randomChaos,
  randomTable,
  randomValues,
  type Written,
} from '../../../../support/random/csv-tables.js'
import { mutated } from '../../../../support/random/random-lines.js'
import { type Seeded, seeded } from '../../../../support/random/seeded.js'
import { rounds } from '../../../../support/rounds.js'

// `npm run fuzz:csv` asks for more, and for another seed each time.
const TABLES = Number(process.env.FUZZ_COUNT ?? rounds(100, 100_000))
const SEED = Number(process.env.FUZZ_SEED ?? 1)

interface Read {
  /** As Latin-1. */
  readonly lines: string
  readonly found: string | undefined
  readonly failure: string | undefined
}

/** Counts the rows that the kernel wrote, so that no test passes without it. */
const kernel: typeof openUsualRows = table => {
  const opened = openUsualRows(table)
  if (opened === undefined) return undefined
  return {
    memory: opened.memory,
    close: () => opened.close(),
    write(rows, writer) {
      const before = rows.nextLine
      const isFull = opened.write(rows, writer)
      seen.byKernel += rows.nextLine - before
      return isFull
    },
  }
}
const seen = { byKernel: 0, lines: 0, refused: 0, failed: 0, parsed: 0 }

async function read(
  bytes: Buffer,
  size: number,
  csv: CsvOptions,
  usualRows: typeof openUsualRows = kernel,
): Promise<Read> {
  let lines = ''
  let found: string | undefined
  // A chunk is valid until the next one is asked for.
  async function* chunks() {
    for (let from = 0; from < bytes.length; from += size) {
      const chunk = Buffer.from(bytes.subarray(from, from + size))
      yield chunk
      chunk.fill('!')
    }
  }
  try {
    const made = await csvLines('a.csv', chunks(), csv, { usualRows, showsCells: true })
    found = made.found
    for await (const part of made.bytes) lines += Buffer.from(part).toString('latin1')
    return { lines, found, failure: undefined }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { lines, found, failure: `${error.code} ${error.message}` }
  }
}

const plain = () => undefined

function randomOptions(random: Seeded, columns: readonly string[]): CsvOptions {
  const types: Record<string, CellType> = {}
  if (random.chance(0.5)) for (const name of columns) if (random.chance(0.6)) types[name] = random.pick(cellTypes)
  return {
    ...(random.chance(0.8) ? { columns } : {}),
    ...(random.chance(0.5) ? { empty: 'null' } : {}),
    ...(random.chance(0.5) ? { inferTypes: true } : {}),
    ...(random.chance(0.3) ? { nullValues: random.pick([[], ['-'], ['NA', 'word', 'ä'], ['']]) } : {}),
    types,
  }
}

const named = (count: number) => Array.from({ length: count }, (_, at) => (at % 7 === 3 ? `ä"${at}` : `c${at}`))

interface Case {
  readonly bytes: Buffer
  readonly csv: CsvOptions
}

function randomCase(random: Seeded): Case {
  const written: Written = {
    delimiter: random.pick([',', ';', '\t', '|', ' ', 'x']),
    quote: random.pick(['"', '"', "'", '']),
  }
  const count = random.chance(0.02) ? 1 + random.below(2000) : 1 + random.below(6)
  const columns = named(count)
  const text = random.pick([
    () => randomTable(random, { ...written, quote: written.quote || '"' }, count),
    () => randomValues(random, written, count),
    () => randomChaos(random, written, true),
  ])()
  const long = random.chance(0.02) ? text + 'ä"x,'.repeat(random.below(100_000)) : text
  const whole = Buffer.from(random.chance(0.02) ? `\ufeff${long}` : long)
  const bytes = random.chance(0.7) || whole.length === 0 ? whole : mutated(whole, random)
  const options = randomOptions(random, columns)
  // Types name columns, which a header may not have.
  const csv = options.columns === undefined ? { ...options, types: {} } : options
  const isFound = random.chance(0.1)
  return {
    bytes,
    csv: isFound ? csv : { ...csv, ...written, encoding: random.pick(['utf-8', 'utf-8', 'windows-1252']) },
  }
}

function same(what: string, { bytes, csv }: Case, one: unknown, other: unknown): void {
  if (JSON.stringify(one) === JSON.stringify(other)) return
  const input = JSON.stringify(bytes.toString('latin1').slice(0, 3000))
  throw new Error(
    `${what}, seed ${SEED}, ${JSON.stringify(csv)}\n${input}:\n${JSON.stringify(one).slice(0, 3000)}\n${JSON.stringify(other).slice(0, 3000)}`,
  )
}

test(`the kernel writes what plain JavaScript writes, on ${TABLES} tables, seed ${SEED}`, async () => {
  const random = seeded(SEED)
  for (let count = 1; count <= TABLES; count += 1) {
    const drawn = randomCase(random)
    const { bytes, csv } = drawn
    const expected = await read(bytes, bytes.length + 1, csv, plain)
    same(`number ${count}`, drawn, await read(bytes, bytes.length + 1, csv), expected)
    const isShort = bytes.length < 100 && random.chance(0.2)
    const cuts = Math.min(bytes.length, random.chance(0.5) ? 8 : bytes.length)
    const sizes = isShort ? Array.from({ length: bytes.length }, (_, at) => at + 1) : [1 + random.below(cuts || 1)]
    // Many small chunks of a long row take long.
    for (const size of bytes.length > 20_000 ? [1 + random.below(bytes.length)] : sizes)
      same(`number ${count} in chunks of ${size}`, drawn, await read(bytes, size, csv), expected)
    seen.lines += expected.lines.split('\n').length - 1
    seen.refused += expected.lines.split('\u001fDOCUMENT').length - 1
    seen.failed += expected.failure === undefined ? 0 : 1
  }
  for (const cases of [seen.byKernel, seen.lines, seen.refused]) expect(cases).toBeGreaterThan(TABLES)
  expect(seen.failed).toBeGreaterThan(TABLES / 100)
})

/** Takes the cells out of lines. Undefined: a row was refused whose quotes are wrong. */
function cellsOf({ lines, failure }: Read, columns: readonly string[]): string[][] | undefined {
  if (failure !== undefined) return undefined
  const rows: string[][] = []
  for (const line of lines.split('\n')) {
    if (line === '') continue
    const bytes = Buffer.from(line, 'latin1')
    const refused = refusedLineIn(bytes, 0, bytes.length)
    if (refused === undefined) {
      const document = JSON.parse(bytes.toString()) as Record<string, string | null>
      rows.push(columns.map(name => document[name] ?? ''))
    } else if (/ cells? for /.test(refused.problem))
      rows.push(JSON.parse(bytes.toString('utf8', refused.from)) as string[])
    else return undefined
  }
  return rows.filter(row => row.some(cell => cell !== ''))
}

test(`csv-parse reads the same cells in ${TABLES} tables, seed ${SEED}`, async () => {
  const random = seeded(SEED)
  for (let count = 1; count <= TABLES; count += 1) {
    const written = { delimiter: random.pick([',', ';', '\t', '|']), quote: random.pick(['"', "'"]) }
    const columns = named(random.chance(0.02) ? 1 + random.below(2000) : 1 + random.below(6))
    const isTable = random.chance(0.5)
    const text = isTable ? randomTable(random, written, columns.length) : randomChaos(random, written)
    const bytes = Buffer.from(text)
    if (text === '') continue
    const csv: CsvOptions = { ...written, columns, empty: 'null', encoding: 'utf-8', skipLines: 0 }
    const got = cellsOf(await read(bytes, 1 + random.below(bytes.length), csv), columns)
    const strict = parsedRows(text, written, false, columns.length)
    if (isTable) expect(strict).toBeDefined()
    // To csv-parse, a quote inside a cell is wrong as well, unless it is told to relax. Then it takes other wrong quotes, too.
    const expected = strict ?? (got === undefined ? undefined : parsedRows(text, written, true, columns.length))
    same(`number ${count}`, { bytes, csv }, got, expected)
    if (expected !== undefined) seen.parsed += 1
  }
  expect(seen.parsed).toBeGreaterThan(TABLES / 2)
  console.log(`seed ${SEED}: ${JSON.stringify(seen)}`)
})

test('the kernel writes what plain JavaScript writes of files that others wrote', async () => {
  const spectrum = join(dirname(createRequire(import.meta.url).resolve('csv-spectrum/package.json')), 'csvs')
  const files = [...readdirSync(spectrum).map(file => join(spectrum, file)), 'examples/orders.csv']
  for (const file of files) {
    const bytes = readFileSync(file)
    for (const csv of [{}, { inferTypes: true }, { empty: 'null' as const }]) {
      const expected = await read(bytes, bytes.length, csv, plain)
      for (let size = 1; size <= Math.min(bytes.length, 30); size += 1)
        same(`${file} in chunks of ${size}`, { bytes, csv }, await read(bytes, size, csv), expected)
    }
  }
})

test('a long table, of which the kernel holds a part at a time, is written whole', async () => {
  const random = seeded(SEED)
  const cell = () =>
    random.pick(['word', '12.5', '"a ""b""\n"', 'ä', '', '\u0001', random.chance(0.001) ? 'x'.repeat(300_000) : 'y'])
  const row = () => (random.chance(0.01) ? 'one,two' : [cell(), cell(), cell()].join(','))
  const text = `a,b,c\n${Array.from({ length: 8_000 }, row).join('\n')}`
  const whole = Buffer.from(text)
  const broken = Buffer.from(whole)
  broken[whole.length >> 1] = 0xff
  for (const bytes of [whole, broken]) {
    const expected = await read(bytes, 1 << 20, {}, plain)
    for (const size of [bytes.length, 65_537, 9_000])
      same(`chunks of ${size}`, { bytes: bytes.subarray(0, 100), csv: {} }, await read(bytes, size, {}), expected)
  }
})
