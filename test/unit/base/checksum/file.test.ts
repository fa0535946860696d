import { type FileHandle, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Checksum, checksumOf, checksumsAt } from '../../../../src/base/checksum/checksum.js'
import { seeded } from '../../../support/random/seeded.js'

const random = seeded(5)
const bytes = Buffer.from(Uint32Array.from({ length: 800_000 }, () => random.below(2 ** 32)).buffer)
let folder = ''
let file: FileHandle
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-checksum-'))
  await writeFile(join(folder, 'bytes'), bytes)
  file = await open(join(folder, 'bytes'))
})
afterAll(async () => {
  await file.close()
  await rm(folder, { recursive: true })
})

function digestOf(end: number): string {
  const checksum = new Checksum()
  checksum.add(bytes.subarray(0, end))
  return checksum.digest()
}

describe('the checksums of a file', () => {
  const ends = [0, 0, 1, 63, 64, 5000, 1 << 20, (1 << 20) + 1, 2_500_001, bytes.length]

  test('are those of its first bytes, up to each end', async () => {
    expect(await checksumOf(file, ends)).toEqual(ends.map(digestOf))
  })

  test('are undefined behind the end of the file', async () => {
    const behind = [bytes.length - 1, bytes.length, bytes.length + 1, bytes.length * 2]
    expect(await checksumOf(file, behind)).toEqual([
      digestOf(bytes.length - 1),
      digestOf(bytes.length),
      undefined,
      undefined,
    ])
  })

  test('need no read if nothing is asked for', async () => {
    expect(await checksumOf(file, [])).toEqual([])
    expect(await checksumOf(file, [0])).toEqual([digestOf(0)])
  })

  test('leave the position of the handle, so that its next read begins at the start', async () => {
    await using other = await open(join(folder, 'bytes'))
    await checksumOf(other, [100_000])
    const { buffer } = await other.read(Buffer.alloc(64), 0, 64, null)
    expect(buffer.equals(bytes.subarray(0, 64))).toBe(true)
  })

  test('continue behind their end, each by itself', async () => {
    for (const checksum of await checksumsAt(file, [10, 70, 2_000_000])) {
      checksum?.add(bytes.subarray(checksum.bytes))
      expect(checksum?.bytes).toBe(bytes.length)
      expect(checksum?.digest()).toBe(digestOf(bytes.length))
    }
  })

  test('are not read on after the signal', async () => {
    const reason = new Error('enough')
    await expect(checksumOf(file, [bytes.length], AbortSignal.abort(reason))).rejects.toBe(reason)
  })
})
