import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { randomToken } from '../../../../src/base/checksum/tokens.js'
import { ENTRY_BYTES, hashOf, type Request, type Segment } from '../../../../src/programs/serve/segment.js'
import { recover } from '../../../../src/programs/serve/recover.js'
import { Spool } from '../../../../src/programs/serve/spool.js'
import { rounds } from '../../../support/rounds.js'
import { systemClock } from '../../../../src/base/time/clock.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'serve-spool-'))
})
afterEach(async () => await rm(folder, { recursive: true }))

const never = new AbortController().signal
const open = async (lingerMs = 1) => await Spool.open({ folder, lingerMs, clock: systemClock, newToken: randomToken })

function request(text: string, key?: string): Request {
  const bytes = Buffer.from(text)
  const documents = text.split('\n').length - 1
  return { bytes, documents, sha256: hashOf(bytes), ...(key === undefined ? {} : { key: hashOf(key) }) }
}

const requests = ['{"n":1}\n', '{"n":2}\n{"n":3}\n', '{"n":4}\n{"n":5}\n{"n":6}\n']

/** What the parts of the spool hold, in their order. */
async function texts(segments: readonly Segment[]): Promise<string> {
  return (await Promise.all(segments.map(async ({ path }) => await readFile(path, 'utf8')))).join('')
}

async function files(): Promise<{ data: string; journal: string }> {
  const names = (await readdir(folder)).toSorted()
  return { data: join(folder, names[0] ?? ''), journal: join(folder, names[1] ?? '') }
}

describe('the spool', () => {
  test('gives what was stored, part after part, until it is removed', async () => {
    const spool = await open()
    expect(await Promise.all(requests.map(async one => await spool.append(request(one))))).toEqual(
      requests.map(() => 'stored'),
    )
    expect(spool.waiting).toEqual({ documents: 6, bytes: 48 })
    const first = await spool.next(never)
    expect(await spool.next(never)).toBe(first)
    expect(await texts(first === undefined ? [] : [first])).toBe(requests.join(''))
    await spool.append(request('{"n":7}\n'))
    if (first !== undefined) await spool.remove(first)
    expect(spool.waiting).toEqual({ documents: 1, bytes: 8 })
    const second = await spool.next(never)
    expect(second).toMatchObject({ documents: 1, bytes: 8 })
    expect(second?.token).not.toBe(first?.token)
    if (second !== undefined) await spool.remove(second)
    spool.end()
    expect(await spool.next(never)).toBeUndefined()
    await spool.close()
    expect(await readdir(folder)).toEqual([])
  })

  test('waits for the first document, and stops waiting when it is told to', async () => {
    const spool = await open()
    const next = spool.next(never)
    await spool.append(request(requests[0] ?? ''))
    expect(await next).toMatchObject({ documents: 1 })
    const segment = await next
    if (segment !== undefined) await spool.remove(segment)
    const aborted = new AbortController()
    const another = spool.next(aborted.signal)
    aborted.abort()
    expect(await another).toBeUndefined()
    await spool.close()
  })

  test('that cannot be written stores nothing of a request, and tells why', async () => {
    const spool = await open()
    await rm(folder, { recursive: true })
    await expect(spool.append(request(requests[0] ?? ''))).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' })
    expect(spool.waiting).toEqual({ documents: 0, bytes: 0 })
    await spool.close()
    await mkdir(folder)
  })
})

test('the size of the spool counts the journal, also for the next process', async () => {
  const spool = await open(60_000)
  for (let at = 0; at < 500; at += 1) await spool.append(request(requests[0] ?? '', `key ${at}`))
  const sizes = await Promise.all((await readdir(folder)).map(async name => (await stat(join(folder, name))).size))
  const onDisk = sizes.reduce((sum, size) => sum + size, 0)
  expect(onDisk).toBeGreaterThan(500 * 100)
  expect(spool.bytes).toBeGreaterThanOrEqual(onDisk)
  const { bytes } = spool
  await spool.close()
  const next = await open()
  expect(next.bytes).toBe(bytes)
  await loadAll(next)
  expect(next.bytes).toBe(0)
  await next.close()
})

test('a segment ends before its journal is too long to be read', async () => {
  const spool = await open(60_000)
  await Promise.all(Array.from({ length: 20_000 }, async () => await spool.append(request(requests[0] ?? ''))))
  // The first document waits for a minute, unless the segment is full.
  expect(await spool.next(never)).toMatchObject({ requests: 20_000 })
  await spool.close()
})

describe('the spool of a killed process', () => {
  test('is read again, under the same ids', async () => {
    const spool = await open(60_000)
    for (const one of requests) await spool.append(request(one))
    const { data } = await files()
    const { segments, cutBytes } = await recover(folder)
    expect(segments).toMatchObject([{ path: data, documents: 6, bytes: 48 }])
    expect(cutBytes).toBe(0)
    await spool.close()
  })

  test('holds whole requests alone, wherever its files break off', { tags: 'long' }, async () => {
    const spool = await open(60_000)
    for (const one of requests) await spool.append(request(one))
    await spool.close()
    const { data, journal } = await files()
    const all = { data: await readFile(data), journal: await readFile(journal) }
    const ends = requests.map((_, at) => requests.slice(0, at + 1).join(''))
    const lines = all.journal.toString().split('\n').slice(0, -1)
    const journalEnds = lines.map((_, at) => lines.slice(0, at + 1).join('\n').length + 1)
    for (let dataEnd = 0; dataEnd <= all.data.length; dataEnd += rounds(5, 1)) {
      for (let journalEnd = 0; journalEnd <= all.journal.length; journalEnd += rounds(11, 1)) {
        await writeFile(data, all.data.subarray(0, dataEnd))
        await writeFile(journal, all.journal.subarray(0, journalEnd))
        const { segments } = await recover(folder)
        const whole = ends.findLast((text, at) => text.length <= dataEnd && (journalEnds[at] ?? 0) <= journalEnd)
        expect(await texts(segments), `${dataEnd} and ${journalEnd}`).toBe(whole ?? '')
      }
    }
  })

  test('holds nothing that its journal does not vouch for', async () => {
    const spool = await open(60_000)
    for (const one of requests) await spool.append(request(one))
    await spool.close()
    const { data, journal } = await files()
    // As a disk may be after the power failed: as long as it was to be, and not what was to be in it.
    await truncate(data, 24)
    await truncate(data, 48)
    await appendFile(journal, '\0\0\0\0')
    const { segments, cutBytes } = await recover(folder)
    expect(await texts(segments)).toBe(requests.slice(0, 2).join(''))
    expect(cutBytes).toBe(24)
  })
})

describe('an idempotency key', () => {
  test('is not known of a request that its journal names and the disk does not hold', async () => {
    const first = await open(60_000)
    await first.append(request(requests[0] ?? '', 'a'))
    await first.append(request(requests[1] ?? '', 'b'))
    await first.close()
    const { data } = await files()
    // As it may be after the power failed.
    await truncate(data, Buffer.byteLength(requests[0] ?? '') + 3)
    const second = await open()
    const segment = await second.next(never)
    if (segment !== undefined) await second.remove(segment)
    await second.close()
    const third = await open()
    expect(await third.append(request(requests[1] ?? '', 'b'))).toBe('stored')
    expect(await third.append(request(requests[0] ?? '', 'a'))).toBe('known')
    await third.close()
  })

  test('is known while its request waits, once it is loaded, and to the next process', async () => {
    const first = await open()
    expect(await first.append(request(requests[0] ?? '', 'a'))).toBe('stored')
    expect(await first.append(request(requests[0] ?? '', 'a'))).toBe('known')
    expect(await first.append(request(requests[1] ?? '', 'a'))).toBe('other')
    await first.close()
    const second = await open()
    expect(await second.append(request(requests[0] ?? '', 'a'))).toBe('known')
    const segment = await second.next(never)
    if (segment !== undefined) await second.remove(segment)
    expect(await second.append(request(requests[0] ?? '', 'a'))).toBe('known')
    expect(await second.append(request(requests[0] ?? '', 'b'))).toBe('stored')
    await second.close()
    const third = await open()
    expect(await third.append(request(requests[0] ?? '', 'a'))).toBe('known')
    expect(third.waiting.documents).toBe(1)
    await third.close()
  })

  test('is one of the last 10,000, whatever the segments that held them', async () => {
    const repeated = async (spool: Spool) =>
      await Promise.all(
        [0, 1, 2, 5000, 9999].map(async at => await spool.append(request(requests[0] ?? '', `key ${at}`))),
      )
    const first = await open()
    // As after an outage: one segment holds all of them, and the next one holds only one key.
    const stored = Array.from({ length: 10_000 }, async (_, at) => {
      await first.append(request(requests[0] ?? '', `key ${at}`))
    })
    await Promise.all(stored)
    await loadAll(first)
    await first.append(request(requests[1] ?? '', 'one more'))
    await first.append(request(requests[1] ?? ''))
    await loadAll(first)
    expect(await first.append(request(requests[1] ?? '', 'one more'))).toBe('known')
    expect(await repeated(first)).toEqual(['stored', 'known', 'known', 'known', 'known'])
    await loadAll(first)
    await first.close()
    const second = await open()
    expect(second.waiting.documents).toBe(0)
    expect(await repeated(second)).toEqual(['known', 'stored', 'known', 'known', 'known'])
    await second.close()
  })
})

test('the journal of a loaded segment keeps only its keys', async () => {
  const first = await open()
  const all = Array.from({ length: 200 }, (_, at) => request(requests[0] ?? '', at === 50 ? 'kept' : undefined))
  await Promise.all(all.map(async one => await first.append(one)))
  await loadAll(first)
  await first.close()
  const sizes = await Promise.all((await readdir(folder)).map(async name => (await stat(join(folder, name))).size))
  expect(sizes).toHaveLength(1)
  expect(sizes[0]).toBeLessThanOrEqual(ENTRY_BYTES)
  await writeFile(join(folder, `000000000001-aaaaaaaaaaaaaaaa.requests.0123abcd.tmp`), 'left by a kill')
  const second = await open()
  expect(await second.append(request(requests[0] ?? '', 'kept'))).toBe('known')
  expect(await readdir(folder)).toHaveLength(1)
  await second.close()
})

/** Removes all segments, as if they were loaded. */
async function loadAll(spool: Spool): Promise<void> {
  while (spool.waiting.documents > 0) {
    const segment = await spool.next(never)
    if (segment !== undefined) await spool.remove(segment)
  }
}
