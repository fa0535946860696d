import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { isSluiceError } from '../../../../src/base/failure/failure.js'
import type { Source, StoredFile } from '../../../../src/base/flow.js'
import { decode } from '../../../../src/pipeline/format/decode.js'
import { tarOf } from '../../../support/facts/archives.js'

const fixture = async (name: string) =>
  await readFile(fileURLToPath(new URL(`../../../../fixtures/parquet/${name}`, import.meta.url)))
const documentsOf = async (name: string) => (await fixture(name)).toString().split('\n').slice(0, -1)

interface Options {
  readonly isStored?: boolean
  readonly empty?: 'omit' | 'null'
  readonly nan?: 'null' | 'omit'
  readonly name?: string
}

async function load(bytes: Buffer, { isStored = true, empty = 'omit', nan, name = 'a.parquet' }: Options = {}) {
  const stat = { size: bytes.length, inode: 1, mtimeMs: 0, ctimeMs: 0 }
  const part = async (from: number, to: number) => {
    const copy = Buffer.allocUnsafeSlow(to - from)
    bytes.copy(copy, 0, from, to)
    return await Promise.resolve(copy)
  }
  const file = { stat, part } as unknown as StoredFile
  async function* chunks() {
    for (let from = 0; from < bytes.length; from += 1000) yield await Promise.resolve(bytes.subarray(from, from + 1000))
  }
  const source: Source = { id: 0, name, open: chunks, ...(isStored ? { file } : {}) }
  let [text, problem, code, found] = ['', '', '', '']
  try {
    const lines = await decode(source, chunks(), { format: 'auto', csv: { empty, nan } })
    found = lines.found ?? ''
    for await (const chunk of lines.bytes) text += Buffer.from(chunk).toString()
  } catch (error) {
    if (!isSluiceError(error)) throw error
    problem = error.message
    code = error.code
  }
  return { lines: text.split('\n').slice(0, -1), found, problem, code }
}

describe('Parquet', () => {
  test('every type keeps its value, digit by digit', async () => {
    const { lines, found } = await load(await fixture('types.parquet'))
    expect(lines).toEqual(await documentsOf('types.ndjson'))
    expect(found).toMatch(/^Parquet, 12 rows in 3 row groups, 27 columns: id, int64, uint64, .*, …$/)
  })

  test.each(['none', 'gzip', 'brotli', 'zstd', 'lz4'])('pages of %s, of the second version', async codec => {
    expect(await load(await fixture(`${codec}.parquet`))).toMatchObject({
      lines: await documentsOf('few.ndjson'),
      problem: '',
    })
  })

  test('nulls are left out, or written as null', async () => {
    const { lines } = await load(await fixture('none.parquet'), { empty: 'null' })
    expect(lines[3]).toBe('{"id":4,"int64":null,"text":null,"list":null}')
  })

  test('a row that JSON cannot hold is refused with its reason, and the others are not', async () => {
    const { lines } = await load(await fixture('odd.parquet'))
    expect(lines).toEqual([
      '{"id":1,"n":0.5,"m":{"a":1}}',
      '\u001fDOCUMENT_ROW_INVALID row 2: column n is NaN, which JSON does not have. --nan null loads it as null\u001f{"id":2,"n":"NaN","m":{}}',
      '\u001fDOCUMENT_ROW_INVALID row 3: column n is Infinity, which JSON does not have. --nan null loads it as null\u001f{"id":3,"n":"Infinity","m":{}}',
      '\u001fDOCUMENT_ROW_INVALID row 4: a map has two entries for "a"\u001f{"id":4,"n":1.5,"m":{"a":2}}',
    ])
  })

  test('NaN and infinite numbers are loaded as null, or left out', async () => {
    const { lines } = await load(await fixture('odd.parquet'), { nan: 'null' })
    expect(lines.slice(0, 3)).toEqual([
      '{"id":1,"n":0.5,"m":{"a":1}}',
      '{"id":2,"n":null,"m":{}}',
      '{"id":3,"n":null,"m":{}}',
    ])
    expect(lines[3]).toContain('a map has two entries')
    const omitted = await load(await fixture('odd.parquet'), { nan: 'omit', empty: 'null' })
    expect(omitted.lines.slice(1, 3)).toEqual(['{"id":2,"m":{}}', '{"id":3,"m":{}}'])
  })

  test('its directory is at its end, so it needs a file that is not compressed once more', async () => {
    const { code, problem } = await load(await fixture('none.parquet'), { isStored: false, name: '-' })
    expect(code).toBe('INPUT_UNREADABLE')
    expect(problem).toContain('it is a Parquet file, which has its directory at the end. Save it as a file')
    const packed = await load(tarOf([{ name: 'b.parquet', data: await fixture('none.parquet') }]))
    expect(packed.problem).toContain('b.parquet: it looks like a Parquet file')
  })

  test('CSV may begin with the same letters', async () => {
    expect((await load(Buffer.from('PAR1,b\n1,2\n'), { name: 'a.csv' })).lines).toEqual(['{"PAR1":"1","b":"2"}'])
  })

  test('a file that was cut off, and a damaged page, are reported', async () => {
    const bytes = await fixture('types.parquet')
    expect((await load(bytes.subarray(0, 9000))).problem).toContain('its directory is missing')
    const damaged = Buffer.from(bytes)
    // Behind the header of its first page.
    damaged[25] = (damaged[25] ?? 0) ^ 1
    expect((await load(damaged)).problem).toContain('its Parquet data cannot be read (the checksum of a page is wrong)')
  })

  test('damaged files end with a failure or the whole of their rows, never otherwise', async () => {
    const bytes = await fixture('types.parquet')
    for (let round = 0; round < 20; round += 1) {
      const damaged = Buffer.from(bytes)
      damaged[(round * 7919) % bytes.length] = (round * 37) % 256
      const { lines, problem } = await load(damaged)
      expect(problem !== '' || lines.length === 12).toBe(true)
    }
  }, 60_000)
})
