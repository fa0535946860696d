import { once } from 'node:events'
import { mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../../../support/eventually.js'
import type { Source } from '../../../../src/base/flow.js'
import { isSluiceError } from '../../../../src/base/failure/failure.js'
import { readStream } from '../../../../src/pipeline/source/read-file.js'
import { openSpool, type SpooledStdin } from '../../../../src/features/spool/open-spool.js'
import type { SpoolSegment } from '../../../../src/features/spool/segments.js'
import { SpoolWriter } from '../../../../src/features/spool/writer.js'

const never = new AbortController().signal

let work: string
let path: string
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'spool-'))
  path = join(work, 'state', 'spool', 'k')
})
afterEach(async () => await rm(work, { recursive: true, force: true }))

async function openWith(
  stdin: Readable,
  more: { isRepeated?: boolean; signal?: AbortSignal; limit?: number } = {},
): Promise<SpooledStdin> {
  const input: Source = { id: 0, name: '-', open: () => stdin }
  return await openSpool({
    folder: path,
    sources: [input],
    input,
    stdin,
    isRepeated: false,
    signal: never,
    ...more,
  })
}

const bytes = (...parts: string[]) => Readable.from(parts.map(part => Buffer.from(part)))

async function text(source: Source | undefined, from?: number): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of source?.open(never, from) ?? []) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString()
}

/** All that can be read of a source, and what ends it. */
async function ending(source: Source | undefined): Promise<{ read: string; code: string; message: string }> {
  const parts: Buffer[] = []
  try {
    for await (const part of source?.open(never) ?? []) parts.push(Buffer.from(part))
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { read: Buffer.concat(parts).toString(), code: error.code, message: error.message }
  }
  return { read: Buffer.concat(parts).toString(), code: 'none', message: '' }
}

/** The names of the files, without what tells one number of one spool from that of another. */
const files = async () => (await readdir(path)).map(name => name.replace(/-[0-9a-f]{8}/, '')).toSorted()

/** Bytes of the file that holds a source. */
async function spooled(source: Source | undefined): Promise<number> {
  return (await stat(join(path, source?.copy?.id ?? ''))).size
}

/** A process that took this from stdin, and had nothing of it loaded; `isCut`: it was killed before the end. */
async function leave(content: string | Uint8Array, isCut: boolean): Promise<void> {
  const controller = new AbortController()
  const stdin = new PassThrough()
  const spool = await openWith(stdin, { signal: controller.signal })
  if (isCut) {
    stdin.write(content)
    await eventually(async () => expect(await spooled(spool.sources.at(-1))).toBe(content.length))
    controller.abort()
  } else stdin.end(content)
  await spool[Symbol.asyncDispose]()
}

describe('stdin that is spooled', () => {
  test('is taken as it comes, though no load reads it, and read from the disk to its end', async () => {
    const stdin = new PassThrough({ highWaterMark: 1000 })
    await using spool = await openWith(stdin)
    const line = `{"text":"${'x'.repeat(90)}"}\n`
    for (let n = 0; n < 5000; n++) if (!stdin.write(line)) await once(stdin, 'drain')
    expect(spool.isFilling).toBe(true)
    stdin.end('{"last":true}')
    const [source] = spool.sources
    expect(await text(source)).toBe(`${line.repeat(5000)}{"last":true}`)
    expect(await text(source, line.length * 5000)).toBe('{"last":true}')
    expect(spool.isFilling).toBe(false)
    expect(spool.cut).toEqual([])
    expect(await files()).toEqual(['1', '1.end'])
  })

  test('is read while it comes', async () => {
    const stdin = new PassThrough()
    await using spool = await openWith(stdin)
    const read = spool.sources[0]?.open(never)[Symbol.asyncIterator]()
    for (const line of ['{"n":1}\n', '{"n":2}\n']) {
      stdin.write(line)
      const next = await read?.next()
      expect(Buffer.from(next?.value as Uint8Array).toString()).toBe(line)
    }
    stdin.end()
    expect((await read?.next())?.done).toBe(true)
  })

  test('stays compressed, and is decoded where it is read', async () => {
    const content = '{"n":1}\n'.repeat(1000)
    await using spool = await openWith(Readable.from([gzipSync(content)]))
    expect(await text(spool.sources[0])).toBe(content)
    expect(await text(spool.sources[0], 7992)).toBe('{"n":1}\n')
    const [name = ''] = await readdir(path)
    expect(gunzipSync(await readFile(join(path, name))).toString()).toBe(content)
  })

  test('has begun once its first bytes show whether it is compressed', async () => {
    const zipped = gzipSync('{}\n')
    const stdin = new PassThrough()
    await using spool = await openWith(stdin)
    const [source] = spool.sources
    let hasBegun = false
    const begun = source?.copy?.begun?.().then(() => (hasBegun = true))
    stdin.write(zipped.subarray(0, 3))
    await eventually(async () => expect(await spooled(source)).toBe(3))
    expect(hasBegun).toBe(false)
    stdin.write(zipped.subarray(3, 4))
    await begun
    stdin.end(zipped.subarray(4))
    expect(await text(source)).toBe('{}\n')
  })

  test('is for its owner alone, and gone when it is removed', async () => {
    await using spool = await openWith(bytes('{}\n'))
    await text(spool.sources[0])
    await spool.sources[0]?.copy?.sync?.()
    const modes = await Promise.all(
      [path, ...(await readdir(path)).map(name => join(path, name))].map(one => stat(one)),
    )
    expect(modes.map(({ mode }) => mode & 0o777)).toEqual([0o700, 0o600, 0o600])
    await spool.remove()
    await expect(readdir(path)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('that fails is read up to there, and has no end', async () => {
    const stdin = new PassThrough()
    await using spool = await openWith(stdin)
    stdin.write('{"n":1}\n')
    const read = spool.sources[0]?.open(never)[Symbol.asyncIterator]()
    await read?.next()
    stdin.destroy(new Error('the cable is out'))
    await expect(read?.next()).rejects.toMatchObject({
      code: 'INPUT_UNREADABLE',
      message: 'cannot read -: the cable is out',
    })
    expect(await files()).toEqual(['1'])
  })

  test('has no end where the run was interrupted', async () => {
    await leave('{"n":1}\n', true)
    expect(await files()).toEqual(['1'])
  })

  test('lets go of who reads it when that is interrupted', async () => {
    const controller = new AbortController()
    const stdin = new PassThrough()
    await using spool = await openWith(stdin)
    const next = spool.sources[0]?.open(controller.signal)[Symbol.asyncIterator]().next()
    controller.abort('enough')
    await expect(next).rejects.toBe('enough')
    stdin.end()
  })
})

describe('the spool of an earlier process', () => {
  test('comes first, and other stdin behind it as an input of its own', async () => {
    await leave('{"old":1}\n', false)
    await using spool = await openWith(bytes('{"new":1}\n'))
    expect(spool.sources.map(({ name }) => name)).toEqual(['-', '- (2)'])
    expect(new Set(spool.sources.map(({ id }) => id)).size).toBe(2)
    expect(await text(spool.sources[0])).toBe('{"old":1}\n')
    expect(await text(spool.sources[1])).toBe('{"new":1}\n')
    expect(spool.hasLeftovers).toBe(true)
    expect(new Set(spool.sources.map(source => source.copy?.id)).size).toBe(2)
    await spool.remove()
    await expect(readdir(path)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('comes before an empty input if nothing comes from stdin', async () => {
    await leave('{"old":1}\n', false)
    await using spool = await openWith(bytes())
    expect(await Promise.all(spool.sources.map(async source => await text(source)))).toEqual(['{"old":1}\n', ''])
    expect(spool.cut).toEqual([])
  })

  test('is loaded at once, though nothing comes from stdin yet', async () => {
    await leave('{"old":1}\n', false)
    const stdin = new PassThrough()
    await using spool = await openWith(stdin)
    expect(await text(spool.sources[0])).toBe('{"old":1}\n')
    stdin.end()
  })

  test('is complete at a terminal: no question is asked', async () => {
    await leave('{"old":1}\n', false)
    await using spool = await openWith(Object.assign(new PassThrough(), { isTTY: true }))
    expect(spool.sources.map(({ name }) => name)).toEqual(['-'])
  })

  test('ends in INPUT_UNENDED where it lacks its end', async () => {
    await leave('{"n":1}\n{"n":2}\n{"n":', true)
    await using spool = await openWith(bytes())
    expect(spool.cut).toEqual(['-'])
    expect(await ending(spool.sources[0])).toEqual({
      read: '{"n":1}\n{"n":2}\n{"n":',
      code: 'INPUT_UNENDED',
      message: 'stdin was cut off after 21 bytes. Sluice loaded every complete document',
    })
  })

  test('ends so too when it was cut between two lines, within its only one, or in compressed data', async () => {
    const zipped = gzipSync(`{"n":1}\n${'x'.repeat(99)}`)
    const cases: [string | Uint8Array, string][] = [
      ['{"n":1}\n', 'after 8 bytes.'],
      [`"${'x'.repeat(99_999)}`, 'after 100,000 bytes.'],
      [zipped.subarray(0, -8), `after ${zipped.length - 8} bytes.`],
    ]
    for (const [content, said] of cases) {
      await leave(content, true)
      await using spool = await openWith(bytes())
      const { code, message } = await ending(spool.sources[0])
      expect(code).toBe('INPUT_UNENDED')
      expect(message).toContain(said)
      await spool.remove()
    }
  })

  test('and the same stdin again are two', async () => {
    await leave('{"n":1}\n{"n":', true)
    await using spool = await openWith(bytes('{"n":1}\n{"n":2}\n'))
    expect(spool.sources.map(({ name, copy }) => [name, copy?.of])).toEqual([
      ['-', '-'],
      ['- (2)', '-'],
    ])
    expect(spool.cut).toEqual(['-'])
    expect(await text(spool.sources[1])).toBe('{"n":1}\n{"n":2}\n')
  })

  test('is made up for by a whole one if stdin holds the same data again', async () => {
    await leave('{"n":1}\n{"n":', true)
    for (const [stdin, cut] of [
      ['', ['-']],
      ['{"n":1}\n{"n":2}\n', []],
    ] as const) {
      await using spool = await openWith(bytes(stdin), { isRepeated: true })
      await text(spool.sources.at(-1))
      expect(spool.cut).toEqual(cut)
    }
  })

  test('is known by its id and not by its content, which no process reads for that', async () => {
    await leave('{"old":1}\n', false)
    const ids = []
    for (let process = 0; process < 2; process++) {
      await using spool = await openWith(bytes())
      const [first] = spool.sources
      expect(first?.file).toBeUndefined()
      ids.push(first?.copy?.id)
    }
    expect(ids[0]).toMatch(/^1-[0-9a-f]{8}$/)
    expect(ids[1]).toBe(ids[0])
  })

  test('is told from what had its name before', async () => {
    const ids: (string | undefined)[] = []
    for (let n = 0; n < 2; n++) {
      await using spool = await openWith(bytes('{"n":1}\n'))
      await text(spool.sources[0])
      ids.push(spool.sources[0]?.copy?.id)
      await spool.remove()
    }
    expect(new Set(ids).size).toBe(2)
  })
})

describe('a spool with a limit', () => {
  const limit = 1_000_000
  const line = `{"text":"${'x'.repeat(990)}"}\n`
  const content = line.repeat(3000)

  const used = async () => {
    const found = await Promise.all((await readdir(path)).map(name => stat(join(path, name)).catch(() => undefined)))
    return found.reduce((sum, file) => sum + (file?.blocks ?? 0) * 512, 0)
  }

  /** Reads so many bytes, and has whole lines of them loaded. Resolves to the most that was on the disk. */
  async function loadSome(spool: SpooledStdin, bytesToRead: number, from = 0): Promise<{ most: number; read: Buffer }> {
    const [source] = spool.sources
    const parts: Buffer[] = []
    let most = 0
    let length = from
    for await (const part of source?.open(never, from) ?? []) {
      parts.push(Buffer.from(part))
      length += part.length
      source?.copy?.loaded?.(length - (length % line.length))
      most = Math.max(most, await used())
      if (length >= bytesToRead) break
    }
    return { most, read: Buffer.concat(parts) }
  }

  test('takes no more than there is room for, and lets go of what is loaded', async () => {
    await using spool = await openWith(Readable.from([Buffer.from(content)]), { limit })
    const { most, read } = await loadSome(spool, Infinity)
    expect(read.equals(Buffer.from(content))).toBe(true)
    expect(most).toBeGreaterThan(limit / 2)
    expect(most).toBeLessThanOrEqual(limit)
    expect(await used()).toBeLessThan(limit)
  })

  test('keeps its first bytes, those behind what is loaded, and its length', async () => {
    await using spool = await openWith(Readable.from([Buffer.from(content)]), { limit })
    await loadSome(spool, Infinity)
    expect(await spooled(spool.sources[0])).toBe(content.length)
    const kept = await readFile(join(path, spool.sources[0]?.copy?.id ?? ''), 'utf8')
    expect(kept.slice(0, 65_536)).toBe(content.slice(0, 65_536))
    expect(kept.slice(-65_536)).toBe(content.slice(-65_536))
    expect(kept).not.toBe(content)
  })

  /** A process that was interrupted when two thirds were loaded. */
  async function leaveDropped(): Promise<number> {
    const controller = new AbortController()
    const stdin = new PassThrough()
    stdin.write(content)
    const spool = await openWith(stdin, { limit, signal: controller.signal })
    const { read } = await loadSome(spool, 2_000_000)
    controller.abort()
    await spool[Symbol.asyncDispose]()
    return read.length
  }

  test('is read from where it was loaded to, and not from its start', async () => {
    const loaded = await leaveDropped()
    await using spool = await openWith(bytes())
    const size = await spooled(spool.sources[0])
    const parts: Buffer[] = []
    const read = async () => {
      for await (const part of spool.sources[0]?.open(never, loaded) ?? []) parts.push(Buffer.from(part))
    }
    await expect(read()).rejects.toMatchObject({ code: 'INPUT_UNENDED' })
    expect(Buffer.concat(parts).toString()).toBe(content.slice(loaded, size))
    expect(() => spool.sources[0]?.open(never)).toThrow(/Sluice loaded its first [\d,]+ bytes and deleted them/)
  })

  test.each([
    ['is a single line', 'x'.repeat(2_000_000)],
    ['has nothing behind its last line but blank ones', `{"n":1}\n${'\n'.repeat(2_000_000)}`],
  ])('ends stdin that %s', async (_, stdin) => {
    await using spool = await openWith(bytes(stdin), { limit })
    const [source] = spool.sources
    const read = (async () => {
      for await (const part of source?.open(never) ?? []) if (part[0] === 0x7b) source?.copy?.loaded?.(8)
    })()
    await expect(read).rejects.toMatchObject({
      code: 'STATE_UNWRITABLE',
      message: expect.stringContaining('has reached its limit of 1,000,000 bytes (--spool-limit)') as string,
    })
  })

  test.each([
    ['is read from its start', (spool: SpooledStdin) => spool.sources[0]?.copy?.loaded?.(undefined)],
    ['is not loaded any more', (spool: SpooledStdin) => void spool.untaken()],
  ])('ends stdin that %s', async (_, stop) => {
    await using spool = await openWith(bytes(content), { limit })
    stop(spool)
    expect(await spool.untaken()).toMatchObject({
      code: 'STATE_UNWRITABLE',
      message: expect.stringMatching(
        /limit of 1,000,000 bytes .*\. Sluice read stdin only up to byte 6\d\d,\d{3}$/,
      ) as string,
    })
  })

  test('lets go of stdin when it is interrupted while it is held back', async () => {
    const controller = new AbortController()
    const spool = await openWith(bytes(content), { limit, signal: controller.signal })
    await eventually(async () => expect(await spooled(spool.sources[0])).toBeGreaterThan(600_000))
    controller.abort()
    await spool[Symbol.asyncDispose]()
    expect(await files()).toEqual(['1'])
  })
})

describe('a spool that cannot be written', () => {
  const unwritable = (problem: string) => ({
    code: 'STATE_UNWRITABLE',
    message: expect.stringContaining(problem) as string,
  })

  test('says so before anything is read from stdin', async () => {
    await writeFile(join(work, 'state'), '')
    const stdin = bytes('{"n":1}\n')
    await expect(openWith(stdin)).rejects.toMatchObject(unwritable('a part of its path is a file, not a folder'))
    expect(stdin.readableDidRead).toBe(false)
  })

  test('for a full disk says so, and lets go of stdin', async () => {
    const segment: SpoolSegment = { number: 1, id: '1', path: '/dev/full', isEnded: false, dropped: 0 }
    await using full = new SpoolWriter(work, segment, await open('/dev/full', 'r+'))
    const stdin = bytes('{"n":1}\n', '{"n":2}\n')
    const closed = new Promise<void>(resolve => stdin.once('close', () => resolve()))
    full.fill(readStream(stdin, '-', never), never)
    await closed
    expect(await full.untaken()).toMatchObject(
      unwritable('/dev/full: the disk is full. Sluice read stdin only up to byte 0'),
    )
  })

  test('any more when its folder is gone has no end', async () => {
    const stdin = new PassThrough()
    await using spool = await openWith(stdin)
    const read = spool.sources[0]?.open(never)[Symbol.asyncIterator]()
    stdin.write('{"n":1}\n')
    expect((await read?.next())?.value).toHaveLength(8)
    await rm(work, { recursive: true })
    stdin.end('{"n":2}\n')
    expect((await read?.next())?.value).toHaveLength(8)
    const told = unwritable('the folder does not exist. Sluice read stdin only up to byte 16')
    await expect(read?.next()).rejects.toMatchObject(told)
    expect(await spool.untaken()).toMatchObject(told)
  })
})
