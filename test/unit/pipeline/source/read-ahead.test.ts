import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findSources } from '../../../../src/pipeline/source/open-sources.js'
import { ReadAhead } from '../../../../src/pipeline/source/read-ahead.js'

let cwd: string
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'read-ahead-'))
})
afterEach(() => rm(cwd, { recursive: true }))

const text = '{"a":1}\n'.repeat(1000)

/** Reads a file, and returns its text, what it is known by, and why it could not be read to its end. */
async function read(name: string, isAhead: boolean) {
  const [source] = await findSources(name, { cwd })
  if (isAhead) source?.ahead?.()
  const parts: Buffer[] = []
  let failure: unknown
  try {
    for await (const part of source?.open(new AbortController().signal) ?? []) parts.push(Buffer.from(part))
  } catch (error) {
    failure = error
  }
  const { bytes, sum } = source?.file?.reading ?? {}
  return { text: Buffer.concat(parts).toString(), bytes, sum: sum?.(), failure }
}

describe('a small file in gzip that is read ahead', () => {
  const whole = gzipSync(text)
  test.each([
    ['whole', whole],
    ['of several members', Buffer.concat([whole, gzipSync('{}\n')])],
    ['empty', gzipSync('')],
    ['with zeros behind it', Buffer.concat([whole, Buffer.alloc(9)])],
    ['with other data behind it', Buffer.concat([whole, Buffer.from('other')])],
    ['cut short', whole.subarray(0, -20)],
    ['without a byte', Buffer.alloc(0)],
    ['with a wrong checksum', Buffer.concat([whole.subarray(0, -8), Buffer.alloc(4), whole.subarray(-4)])],
    ['of which very much comes out', gzipSync(Buffer.alloc(3 << 20, 'a'))],
    ['not in gzip', Buffer.from(text)],
  ])('says the same as one that is not: %s', async (_, bytes) => {
    await writeFile(join(cwd, 'a.ndjson.gz'), bytes)
    const known = await read('a.ndjson.gz', false)
    expect(await read('a.ndjson.gz', true)).toEqual(known)
    expect(known.bytes).toBe(bytes.length)
  })

  test('is decoded before its turn', async () => {
    await writeFile(join(cwd, 'a.ndjson.gz'), whole)
    const files = new ReadAhead()
    files.add(0, join(cwd, 'a.ndjson.gz'), whole.length)
    const file = await files.take(0)
    expect(file?.decoded?.toString()).toBe(text)
    expect(file?.bytes).toEqual(whole)
  })

  test('waits for its turn if there is no more memory for it, and then is read ahead after all', async () => {
    const large = gzipSync(text, { level: 0 })
    const size = 800_000 // of which 8 MB may come out
    const paths = [0, 1, 2].map(at => join(cwd, `${at}.gz`))
    for (const path of paths) await writeFile(path, large)
    const files = new ReadAhead()
    for (const [id, path] of paths.entries()) files.add(id, path, size)
    expect((await files.take(0))?.decoded).toHaveLength(text.length)
    expect((await files.take(1))?.decoded).toHaveLength(text.length)
    // Its turn comes before there is memory.
    files.add(3, paths[0] ?? '', size)
    expect(await files.take(3)).toBe(undefined)
    expect((await files.take(2))?.decoded).toHaveLength(text.length)
    expect(await files.take(2)).toBe(undefined)
  })
})
