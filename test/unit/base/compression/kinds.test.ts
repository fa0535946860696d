import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { decompress, isCompressed } from '../../../../src/base/compression/decompress.js'
import { decodedFrom } from '../../../../src/pipeline/source/stored-file.js'
import { findSources } from '../../../../src/pipeline/source/open-sources.js'
import { chunks, decoded } from '../../../support/facts/decoded.js'

const fixture = (name: string) => fileURLToPath(new URL(`../../../../fixtures/${name}`, import.meta.url))
const never = new AbortController().signal
const rows = Buffer.from(Array.from({ length: 20_000 }, (_, id) => `{"id":${id},"name":"row ${id * 7919}"}\n`).join(''))

const compressed: Record<string, (data: Buffer) => Buffer> = {
  zstd: data => byProgram('zstd', ['-q', '--check'], data),
  bzip2: data => byProgram('bzip2', ['-1'], data),
  xz: data => byProgram('xz', ['-0'], data),
  // The default takes seconds.
  brotli: data => brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
}
const nameOf = (encoding: string) => (encoding === 'brotli' ? 'x.br' : 'x')

function byProgram(program: string, options: string[], input: Buffer): Buffer {
  const { stdout, status } = spawnSync(program, [...options, '-c'], { input, maxBuffer: 1 << 28 })
  if (status !== 0) throw new Error(`${program} failed`)
  return stdout
}

/** Skips with a reason if the program is not installed here. */
function needs(encoding: string, skip: (reason: string) => void): void {
  if (encoding !== 'brotli' && spawnSync(encoding, ['--version']).error)
    skip(`the program ${encoding} is not installed`)
}

afterEach(() => vi.unstubAllEnvs())

describe.each([
  ['zstd', 'plain.ndjson.zst'],
  ['zstd', 'two-frames.ndjson.zst'],
  ['bzip2', 'plain.ndjson.bz2'],
  ['xz', 'plain.ndjson.xz'],
  ['brotli', 'plain.ndjson.br'],
])('%s: %s', (encoding, name) => {
  test('is read, in chunks of any size', async ({ skip }) => {
    needs(encoding, skip)
    const expected = await readFile(fixture('plain.ndjson'))
    const [source] = await findSources(fixture(name), {})
    const parts: Uint8Array[] = []
    for await (const part of source?.open(never) ?? []) parts.push(Buffer.from(part))
    expect(Buffer.concat(parts)).toEqual(expected)
    for (const size of [1, 2, 7, 100])
      expect(await decoded(chunks(await readFile(fixture(name)), size), nameOf(encoding))).toMatchObject({
        bytes: expected,
        code: undefined,
      })
  })

  test('continues at a position in the decoded bytes', async ({ skip }) => {
    needs(encoding, skip)
    const parts: Uint8Array[] = []
    const bytes = await readFile(fixture(name))
    const read = (from: number) => chunks(bytes.subarray(from))
    for await (const part of decodedFrom(name, fixture(name), 50, read)) parts.push(Buffer.from(part))
    expect(Buffer.concat(parts)).toEqual((await readFile(fixture('plain.ndjson'))).subarray(50))
  })
})

describe.each(Object.keys(compressed))('%s', encoding => {
  const compress = compressed[encoding] ?? (data => data)
  const name = nameOf(encoding)

  test('a large input comes out whole, also if it was joined of several', async ({ skip }) => {
    needs(encoding, skip)
    const one = compress(rows)
    expect((await decoded(chunks(one), name)).bytes.equals(rows)).toBe(true)
    if (encoding === 'brotli') return
    const { bytes, code } = await decoded(chunks(Buffer.concat([one, one]), 10_000))
    expect(code).toBeUndefined()
    expect(bytes.equals(Buffer.concat([rows, rows]))).toBe(true)
  })

  test('cut anywhere, is reported as truncated', async ({ skip }) => {
    needs(encoding, skip)
    const whole = compress(rows)
    const cuts = Array.from({ length: 12 }, (_, n) => 20 + Math.floor(((whole.length - 21) * n) / 11))
    for (const cut of [...cuts, whole.length - 1]) {
      const { bytes, code, message } = await decoded(chunks(whole.subarray(0, cut)), name)
      expect({ cut, code }).toEqual({ cut, code: 'INPUT_TRUNCATED' })
      expect(message).toContain(`its ${encoding} data ends after ${bytes.length.toLocaleString('en')} decoded bytes`)
      expect(rows.subarray(0, bytes.length).equals(bytes)).toBe(true)
    }
  })

  test('data that is damaged or followed by other data never passes as whole', async ({ skip }) => {
    needs(encoding, skip)
    const whole = compress(rows)
    const damaged = Buffer.from(whole)
    const middle = whole.length >> 1
    damaged.fill(0x55, middle, middle + 8)
    expect((await decoded(chunks(damaged), name)).code).toMatch(/^INPUT_(UNREADABLE|TRUNCATED)$/)
    for (const rubbish of ['{"n":1}\n', 'BZ', '\u0001'.repeat(3000)]) {
      const { bytes, code, message } = await decoded(chunks(Buffer.concat([whole, Buffer.from(rubbish)])), name)
      expect({ rubbish, code: code?.replace('TRUNCATED', 'UNREADABLE') }).toEqual({ rubbish, code: 'INPUT_UNREADABLE' })
      expect(message).toContain(`its ${encoding} data`)
      expect(bytes.equals(rows)).toBe(true)
    }
  })

  test("passes the source's own error on, and closes the source if the consumer stops", async ({ skip }) => {
    needs(encoding, skip)
    const whole = compress(rows)
    let isClosed = false
    async function* broken() {
      try {
        yield whole.subarray(0, whole.length >> 1)
        throw new Error('the disk failed')
      } finally {
        isClosed = true
      }
    }
    await expect(drain(decompress(broken(), name))).rejects.toThrow('the disk failed')
    expect(isClosed).toBe(true)
    isClosed = false
    async function* endless() {
      try {
        for (;;) yield Buffer.from(whole)
      } finally {
        isClosed = true
      }
    }
    for await (const part of decompress(endless(), name, true)) if (part.length > 0) break
    expect(isClosed).toBe(true)
  })
})

async function drain(parts: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const part of parts) part.at(0)
}

test.each(['bzip2', 'xz'])('without the program %s, the failure names it', async program => {
  vi.stubEnv('PATH', '/nowhere')
  const file = { bzip2: 'plain.ndjson.bz2', xz: 'plain.ndjson.xz' }[program] ?? ''
  const { code, message, bytes } = await decoded(chunks(await readFile(fixture(file))))
  expect(code).toBe('INPUT_UNREADABLE')
  expect(message).toBe(`cannot read x: it is compressed with ${program}. To read it, install the program ${program}`)
  expect(bytes.length).toBe(0)
})

test('text that begins like a mark stays as it is', async () => {
  for (const text of ['BZh9,a\n1,2\n', 'B', 'BZ', 'BZh', '(', 'P', 'P*']) {
    expect(await decoded(chunks(Buffer.from(text), 1))).toMatchObject({ bytes: Buffer.from(text), code: undefined })
    expect(isCompressed(Buffer.from(text))).toBe(false)
  }
})

test('a small xz file may not make its program take very much memory', async ({ skip }) => {
  needs('xz', skip)
  const data = byProgram('xz', ['--lzma2=preset=0,dict=1GiB'], Buffer.from('{}\n'))
  expect(data.length).toBeLessThan(1000)
  const { bytes, code, message } = await decoded(chunks(data), 'x')
  expect({ bytes: bytes.length, code }).toEqual({ bytes: 0, code: 'INPUT_UNREADABLE' })
  expect(message).toContain('it needs more than 256 MiB of memory to decompress')
  expect((await decoded(chunks(byProgram('xz', ['-9'], rows)), 'x')).bytes.equals(rows)).toBe(true)
})
