/** One corpus of documents in every format that Sluice reads, and in every compression. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { pythonWith } from './python.js'

export const DOCUMENTS = Number(process.env.DOCUMENTS ?? 100_000)

/** A document's fields, as JSON has them. A program that parses them and writes them again changes `big` and `ratio`. */
function fieldsOf(n: number): [name: string, value: string][] {
  const text = `Größe ${n}, "quoted"; tab\there, line\nbreak, \u{1F69A} ${'x'.repeat((n * 37) % 90)}`
  return [
    ['n', String(n)],
    ['big', String(9_007_199_254_740_993n * 100n + BigInt(n))],
    ['ratio', `${n % 100}.${n % 2 === 0 ? '00' : '10'}`],
    ['open', String(n % 3 === 0)],
    ['code', `"00${n % 1000}"`],
    ['text', JSON.stringify(text)],
  ]
}

/** What tables cannot hold. */
const DEEP = String.raw`{"list":[1.0,2e3],"parts":[{"none":null},{"of":[]}],"escaped":"\u00e9\/","empty":{}}`

const numbers = Array.from({ length: DOCUMENTS }, (_, n) => n)
const pairs = (n: number) => fieldsOf(n).map(([name, value]) => `"${name}":${value}`)
const eachLine = (text: (n: number) => string, of = numbers) => of.map(n => `${text(n)}\n`).join('')

/** The document with this number: flat as a row of a table, or with objects and arrays in it. */
export const lineOf = {
  flat: (n: number) => `{${pairs(n).join(',')}}`,
  deep: (n: number) => `{${pairs(n).join(',')},"deep":${DEEP}}`,
}

const spaced = DEEP.replaceAll(/[{}[\],:]/g, mark => ` ${mark}\n   `)
const prettyOf = (n: number) =>
  `  {\n${fieldsOf(n)
    .map(([name, value]) => `    "${name}" : ${value},\n`)
    .join('')}    "deep" : ${spaced}\n  }`

function table(delimiter: string, point = '.'): string {
  const cell = (name: string, value: string) => {
    const text = value.startsWith('"') ? (JSON.parse(value) as string) : value
    const shown = name === 'ratio' ? text.replace('.', point) : text
    return ['"', '\n', delimiter].some(one => shown.includes(one)) ? `"${shown.replaceAll('"', '""')}"` : shown
  }
  const names = fieldsOf(0).map(([name]) => name)
  return `${names.join(delimiter)}\n${eachLine(n =>
    fieldsOf(n)
      .map(([name, value]) => cell(name, value))
      .join(delimiter),
  )}`
}

/** Three files: lines, an array, and compressed lines. */
function archive(...pack: readonly [program: string, ...options: string[]]): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-archive-'))
  const [one, other] = [Math.floor(DOCUMENTS / 3), Math.floor(DOCUMENTS / 2)]
  const { deep } = lineOf
  writeFileSync(join(folder, 'one.ndjson'), eachLine(deep, numbers.slice(0, one)))
  writeFileSync(join(folder, 'two.json'), `[${numbers.slice(one, other).map(deep).join(',')}]`)
  writeFileSync(join(folder, 'three.ndjson.gz'), gzipSync(eachLine(deep, numbers.slice(other))))
  const [program, ...options] = pack
  execFileSync(program, [...options, 'packed.bin', 'one.ndjson', 'two.json', 'three.ndjson.gz'], { cwd: folder })
  const bytes = readFileSync(join(folder, 'packed.bin'))
  rmSync(folder, { recursive: true })
  return bytes
}

/** Written by pyarrow, with its own settings. */
function parquet(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-parquet-'))
  const script = fileURLToPath(new URL('parquet.py', import.meta.url))
  const file = join(folder, 'rows.parquet')
  execFileSync(pythonWith('pyarrow==26.0.1'), [script, file], { input: eachLine(lineOf.flat) })
  const bytes = readFileSync(file)
  rmSync(folder, { recursive: true })
  return bytes
}

interface Plain {
  readonly text: () => string
  readonly flags?: readonly string[]
  readonly isFlat?: true
}

const typed = ['--types', 'n:long,big:long,ratio:double,open:boolean']
const csv = { flags: ['--format', 'csv', ...typed], isFlat: true } as const
const plain: Readonly<Record<string, Plain>> = {
  'in.ndjson': { text: () => eachLine(lineOf.deep) },
  'array.json': { text: () => `[${numbers.map(lineOf.deep).join(',')}]` },
  'pretty.json': { text: () => `[\n${numbers.map(prettyOf).join(',\n')}\n]\n` },
  'inside.json': {
    text: () => `{"took":3,"data":{"items":[${numbers.map(lineOf.deep).join(',')}]}}`,
    flags: ['--pick', 'data.items'],
  },
  'comma.csv': { text: () => table(','), ...csv },
  'excel.csv': { text: () => `\u{FEFF}${table(';', ',')}`, ...csv },
  'tabs.tsv': { text: () => table('\t'), flags: ['--format', 'tsv', ...typed], isFlat: true },
  'bulk.txt': { text: () => eachLine(n => `{"index":{"_id":"${n}"}}\n${lineOf.deep(n)}`), flags: ['--format', 'bulk'] },
  'dump.json': {
    text: () => eachLine(n => `{"_index":"old","_id":"${n}","_score":1,"_source":${lineOf.deep(n)}}`),
    flags: ['--format', 'elasticdump'],
  },
  'answer.json': {
    text: () =>
      `{"took":1,"timed_out":false,"hits":{"total":{"value":${DOCUMENTS},"relation":"eq"},"hits":[${numbers
        .map(n => `{"_index":"old","_id":"${n}","_source":${lineOf.deep(n)}}`)
        .join(',')}]}}`,
    flags: ['--format', 'search'],
  },
}

const packed: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gz: bytes => gzipSync(bytes, { level: 1 }),
  br: bytes => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }),
  zst: bytes => packedBy('zstd', bytes),
  bz2: bytes => packedBy('bzip2', bytes),
  xz: bytes => packedBy('xz', bytes, '-1'),
}

function packedBy(name: string, input: Buffer, ...options: string[]): Buffer {
  return execFileSync(name, ['-c', ...options], { input, maxBuffer: 1 << 30 })
}

export interface Form {
  readonly name: string
  readonly flags: readonly string[]
  readonly shape: keyof typeof lineOf
  readonly write: () => Buffer | string
  /** Its name or its end is needed. */
  readonly isNoStream: boolean
}

const formOf = (name: string, write: Form['write'], { flags = [], isFlat }: Omit<Plain, 'text'> = {}): Form => ({
  name,
  write,
  flags,
  shape: isFlat === true ? 'flat' : 'deep',
  isNoStream: /\.(br|zip|parquet)$/.test(name),
})

export const forms: readonly Form[] = [
  ...Object.entries(plain).map(([name, of]) => formOf(name, of.text, of)),
  // As Excel saves "Unicode text".
  formOf('unicode.csv', () => Buffer.from(`\u{FEFF}${table('\t')}`, 'utf16le'), csv),
  formOf('files.zip', () => archive('zip', '-q')),
  formOf('files.tar', () => archive('tar', '-cf')),
  formOf('files.tar.gz', () => archive('tar', '-czf')),
  formOf('files.tar.zst', () => archive('tar', '--zstd', '-cf')),
  formOf('rows.parquet', parquet, { isFlat: true }),
  ...['in.ndjson', 'pretty.json', 'comma.csv'].flatMap(name =>
    Object.entries(packed).map(([ending, pack]) =>
      formOf(`${name}.${ending}`, () => pack(Buffer.from(plain[name]?.text() ?? '')), plain[name]),
    ),
  ),
]
