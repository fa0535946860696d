import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync, readdirSync, readlinkSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, realpath, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ReadMemory, Source } from '../../../../src/base/flow.js'
import { findSources } from '../../../../src/pipeline/source/open-sources.js'

let cwd = ''
const never = new AbortController().signal

beforeAll(async () => {
  cwd = await realpath(await mkdtemp(join(tmpdir(), 'sluice-source-')))
  await mkdir(join(cwd, 'logs/deep'), { recursive: true })
  await mkdir(join(cwd, 'empty'))
  for (const name of [
    'b.ndjson',
    'a.ndjson',
    'a1.ndjson',
    'a[1].ndjson',
    '.hidden.ndjson',
    'Z.ndjson',
    'x.txt',
    'logs/c.ndjson',
  ]) {
    await writeFile(join(cwd, name), `${name}\n`)
  }
  await writeFile(join(cwd, 'logs/deep/d.ndjson'), 'logs/deep/d.ndjson\n')
  await symlink('a.ndjson', join(cwd, 'link.json'))
  await symlink('nowhere', join(cwd, 'broken.json'))
  await symlink('circle.json', join(cwd, 'circle.json'))
})
afterAll(() => rm(cwd, { recursive: true }))

/** Mac OS allows no such names. */
test.skipIf(process.platform !== 'linux')(
  'a glob does not leave out files and folders whose names are not UTF-8',
  async () => {
    const odd = (folder: string) => Buffer.concat([Buffer.from(join(cwd, folder)), Buffer.from([0xff])])
    await mkdir(join(cwd, 'odd/in'), { recursive: true })
    await writeFile(join(cwd, 'odd/good.ndjson'), '{}\n')
    await writeFile(Buffer.concat([odd('odd/in/'), Buffer.from('.ndjson')]), '{}\n')
    await expect(names('odd/**/*.ndjson')).rejects.toMatchObject({
      code: 'INPUT_UNREADABLE',
      failure: { evidence: { problem: 'its name is not UTF-8. Rename the file' } },
    })
    await rm(join(cwd, 'odd/in'), { recursive: true })
    await mkdir(odd('odd/'))
    await expect(names('odd/**/*.ndjson')).rejects.toMatchObject({
      code: 'INPUT_UNREADABLE',
      failure: { evidence: { problem: 'its name is not UTF-8. Rename the folder' } },
    })
    expect(await names('odd/*.ndjson')).toEqual(['odd/good.ndjson'])
    await rm(join(cwd, 'odd'), { recursive: true })
  },
)

const names = async (source: string | string[]) => (await findSources(source, { cwd })).map(({ name }) => name)

async function text(source: Source | undefined, signal = never): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of source?.open(signal) ?? []) parts.push(Buffer.from(part))
  return Buffer.concat(parts).toString()
}

describe('paths and globs', () => {
  test.each([
    ['a.ndjson', ['a.ndjson']],
    ['./logs/../a.ndjson', ['./logs/../a.ndjson']],
    ['*.ndjson', ['Z.ndjson', 'a.ndjson', 'a1.ndjson', 'a[1].ndjson', 'b.ndjson']],
    ['a[1].ndjson', ['a1.ndjson', 'a[1].ndjson']],
    ['[ab].ndjson', ['a.ndjson', 'b.ndjson']],
    ['{b,a}.ndjson', ['a.ndjson', 'b.ndjson']],
    [
      '**/*.ndjson',
      ['Z.ndjson', 'a.ndjson', 'a1.ndjson', 'a[1].ndjson', 'b.ndjson', 'logs/c.ndjson', 'logs/deep/d.ndjson'],
    ],
    ['logs/**/*.ndjson', ['logs/c.ndjson', 'logs/deep/d.ndjson']],
    ['./logs/*.ndjson', ['logs/c.ndjson']],
    ['.hidden.ndjson', ['.hidden.ndjson']],
    ['.*.ndjson', ['.hidden.ndjson']],
    ['link.json', ['link.json']],
  ])('%s names %j', async (pattern, expected) => {
    expect(await names(pattern)).toEqual(expected)
  })

  test('a glob that is absolute, or begins above the working folder, finds the files in the working folder too', async () => {
    const below = join(cwd, 'logs')
    const absolute = (await findSources(`${cwd}/**/*.ndjson`, { cwd: below })).map(({ name }) => name)
    expect(absolute).toContain(join(cwd, 'a.ndjson'))
    expect(absolute).toContain(join(cwd, 'logs/deep/d.ndjson'))
    const above = (await findSources('../**/*.ndjson', { cwd: below })).map(({ name }) => name)
    expect(above).toContain('../a.ndjson')
    expect(above).toContain('../logs/c.ndjson')
  })

  test('a glob leaves out the dead letters of earlier runs, unless it names them', async () => {
    const folder = await mkdtemp(join(cwd, 'runs-'))
    const dead = 'sluice-dead-letters-20260102T030405Z-abcdef.ndjson'
    for (const name of ['in.ndjson', dead]) await writeFile(join(folder, name), '{}\n')
    const found = async (name: string) => (await findSources(name, { cwd: folder })).map(one => one.name)
    expect(await found('*.ndjson')).toEqual(['in.ndjson'])
    expect(await found(`${folder}/**`)).toEqual([join(folder, 'in.ndjson')])
    expect(await found(dead)).toEqual([dead])
    expect(await found('sluice-dead-letters-*.ndjson')).toEqual([dead])
    await rm(folder, { recursive: true })
  })

  test('keeps the order in which they are named, numbers them, and reads none twice', async () => {
    const sources = await findSources(['logs/c.ndjson', '[ab].ndjson', './a.ndjson', join(cwd, 'b.ndjson'), 'x.txt'], {
      cwd,
    })
    expect(sources.map(({ id, name }) => [id, name])).toEqual([
      [0, 'logs/c.ndjson'],
      [1, 'a.ndjson'],
      [2, 'b.ndjson'],
      [3, 'x.txt'],
    ])
    expect(await Promise.all(sources.map(source => text(source)))).toEqual([
      'logs/c.ndjson\n',
      'a.ndjson\n',
      'b.ndjson\n',
      'x.txt\n',
    ])
  })

  test.each([
    ['missing.ndjson', 'INPUT_NOT_FOUND', 'no such input: missing.ndjson'],
    ['missing/*.ndjson', 'INPUT_NOT_FOUND', 'no such input: missing/*.ndjson'],
    ['empty/*', 'INPUT_NOT_FOUND', 'no such input: empty/*'],
    ['log*', 'INPUT_NOT_FOUND', 'no such input: log*'],
    ['broken.json', 'INPUT_NOT_FOUND', 'no such input: broken.json'],
    ['', 'INPUT_UNREADABLE', "it is a directory. Pass its files with a glob, such as '*.ndjson'"],
    [
      'logs',
      'INPUT_UNREADABLE',
      "cannot read logs: it is a directory. Pass its files with a glob, such as 'logs/*.ndjson'",
    ],
    ['circle.json', 'INPUT_UNREADABLE', 'its symbolic links form a loop'],
    ['a.ndjson/b', 'INPUT_UNREADABLE', 'a part of its path is a file, not a folder'],
    ['x'.repeat(300), 'INPUT_UNREADABLE', 'its path is too long'],
    ['-', 'INPUT_UNREADABLE', 'there is no standard input'],
  ])('%s is %s', async (name, code, message) => {
    const error: unknown = await findSources(name, { cwd }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) })
  })

  test('a file without read permission is told before anything is opened', async context => {
    // Permission bits do not bind root; the rules of this kernel file, which may only be written, do.
    const forRoot = '/proc/sys/vm/compact_memory'
    const isRoot = process.getuid?.() === 0
    if (isRoot && !existsSync(forRoot)) return context.skip('root may read every file here')
    const secret = isRoot ? forRoot : join(cwd, 'secret.ndjson')
    if (!isRoot) {
      await writeFile(secret, '')
      await chmod(secret, 0)
    }
    await expect(findSources(['a.ndjson', secret], { cwd })).rejects.toMatchObject({
      code: 'INPUT_UNREADABLE',
      message: `cannot read ${secret}: permission denied`,
    })
  })

  test('one bad input among good ones stops all of them', async () => {
    await expect(names(['a.ndjson', 'missing.ndjson'])).rejects.toMatchObject({ code: 'INPUT_NOT_FOUND' })
  })

  test('a file that vanishes between the check and the reading is told', async () => {
    await writeFile(join(cwd, 'short-lived.json'), '')
    const [source] = await findSources('short-lived.json', { cwd })
    await rm(join(cwd, 'short-lived.json'))
    await expect(text(source)).rejects.toMatchObject({ code: 'INPUT_NOT_FOUND' })
  })
})

describe('reading a file', () => {
  /** The descriptors of this process that are open on a file. */
  const open = (path: string) => {
    return readdirSync('/proc/self/fd').filter(fd => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === path
      } catch {
        return false
      }
    }).length
  }
  const canCount = existsSync('/proc/self/fd')

  test.each([0, 1, 3, (64 << 10) - 1, 64 << 10, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (5 << 20) + 123])(
    'yields its %i bytes',
    async size => {
      const bytes = Buffer.alloc(size, 'abcdefghijklm')
      await writeFile(join(cwd, 'sized'), bytes)
      const [source] = await findSources('sized', { cwd })
      const parts: Buffer[] = []
      for await (const part of source?.open(never) ?? []) {
        parts.push(Buffer.from(part))
        expect(part.length).toBeLessThanOrEqual(1 << 20)
      }
      expect(Buffer.concat(parts).equals(bytes)).toBe(true)
    },
  )

  test('alternates between two buffers, and leaves a chunk alone until the next one is asked for', async () => {
    const bytes = Buffer.concat([0, 1, 2, 3, 4].map(letter => Buffer.alloc(1 << 20, letter)))
    await writeFile(join(cwd, 'five'), bytes)
    const [source] = await findSources('five', { cwd })
    const buffers = new Set<ArrayBufferLike>()
    let letter = 0
    for await (const part of source?.open(never) ?? []) {
      buffers.add(part.buffer)
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
      expect(Buffer.from(part).equals(Buffer.alloc(1 << 20, letter++))).toBe(true)
    }
    expect(buffers.size).toBe(2)
  })

  test('can be opened again', async () => {
    const [source] = await findSources('a.ndjson', { cwd })
    expect(await text(source)).toBe(await text(source))
  })

  test('reads a file that says it has no size', async context => {
    if (!existsSync('/proc/self/status')) return context.skip('there is no /proc here')
    const [source] = await findSources('/proc/self/status', { cwd })
    expect(await text(source)).toContain('Name:')
  })

  test.runIf(canCount)('closes the file at its end, on an early stop, and when the signal aborts', async () => {
    const path = join(cwd, 'large')
    await writeFile(path, Buffer.alloc(4 << 20))
    const [source] = await findSources(path, { cwd })
    await text(source)
    expect(open(path)).toBe(0)

    for await (const part of source?.open(never) ?? []) {
      expect(part.length).toBe(1 << 20)
      expect(open(path)).toBe(1)
      break
    }
    expect(open(path)).toBe(0)

    const stop = new AbortController()
    const reason = new Error('enough')
    const reading = async () => {
      for await (const part of source?.open(stop.signal) ?? []) if (part.length > 0) stop.abort(reason)
    }
    await expect(reading()).rejects.toBe(reason)
    expect(open(path)).toBe(0)
    await expect(text(source, stop.signal)).rejects.toBe(reason)
    expect(open(path)).toBe(0)
  })

  test('a folder that takes the place of a file is told as such', async () => {
    await writeFile(join(cwd, 'changes'), 'x')
    const [source] = await findSources('changes', { cwd })
    await rename(join(cwd, 'changes'), join(cwd, 'changed'))
    await mkdir(join(cwd, 'changes'))
    await expect(text(source)).rejects.toMatchObject({
      code: 'INPUT_UNREADABLE',
      message: expect.stringContaining('it is a directory'),
    })
  })
})

describe('stdin and named pipes', () => {
  test('reads stdin by both of its names, once', async () => {
    for (const name of ['-', '/dev/stdin']) {
      const stdin = Readable.from([Buffer.from('{"a":'), Buffer.from('1}\n')], { objectMode: false })
      const sources = await findSources([name, 'a.ndjson', '-'], { cwd, stdin })
      expect(sources.map(source => source.name)).toEqual([name, 'a.ndjson'])
      expect(await text(sources[0])).toBe('{"a":1}\n')
    }
  })

  test('the signal ends the wait for stdin', async () => {
    const stop = new AbortController()
    const stdin = new PassThrough()
    const [source] = await findSources('-', { stdin })
    const reading = text(source, stop.signal)
    stdin.write('{}')
    stop.abort(new Error('enough'))
    await expect(reading).rejects.toThrow('enough')
    expect(stdin.destroyed).toBe(true)
  })

  test.runIf(process.platform !== 'win32')('reads a named pipe, opened first by either side', async () => {
    const path = join(cwd, 'pipe')
    execFileSync('mkfifo', [path])
    const [source] = await findSources('pipe', { cwd })

    const reading = text(source)
    await new Promise(setImmediate)
    const late = createWriteStream(path)
    late.end('x'.repeat(300_000))
    expect((await reading).length).toBe(300_000)

    const early = createWriteStream(path)
    const opened = once(early, 'open')
    early.end('early')
    const second = text(source)
    await opened
    expect(await second).toBe('early')
  })

  test.runIf(process.platform !== 'win32')('the signal ends the wait for a writer of a named pipe', async () => {
    const path = join(cwd, 'silent')
    execFileSync('mkfifo', [path])
    const [source] = await findSources('silent', { cwd })
    const stop = new AbortController()
    const reading = text(source, stop.signal)
    await new Promise(setImmediate)
    stop.abort(new Error('enough'))
    await expect(reading).rejects.toThrow('enough')
  })
})

test('a file that shrinks while it is read is truncated, after what was there', async () => {
  const path = join(cwd, 'shrinking')
  await writeFile(path, 'x'.repeat(5 << 20))
  const [source] = await findSources(path, {})
  let bytes = 0
  const reading = async () => {
    for await (const part of source?.open(never) ?? []) {
      if (bytes === 0) await truncate(path, 3 << 20)
      bytes += part.length
    }
  }
  await expect(reading()).rejects.toMatchObject({ code: 'INPUT_TRUNCATED', failure: { evidence: { bytes: 3 << 20 } } })
  expect(bytes).toBe(3 << 20)
  await rm(path)
})

describe('memory to read into', () => {
  const into: ReadMemory = { buffers: [Buffer.alloc(10), Buffer.alloc(10)], readers: 0 }
  const content = 'one two three four five six seven'
  const sourceOf = async (name: string) => {
    await writeFile(join(cwd, name), content)
    const [source] = await findSources(name, { cwd })
    return source as Source
  }

  test('holds what is read, in turn, and nothing is read elsewhere', async () => {
    const parts: string[] = []
    const memory: unknown[] = []
    for await (const part of (await sourceOf('into.ndjson')).open(never, 0, undefined, into)) {
      parts.push(Buffer.from(part).toString())
      memory.push(part.buffer)
    }
    expect(parts.join('')).toBe(content)
    expect(memory).toEqual(memory.map((_, count) => into.buffers[count % 2 === 0 ? 0 : 1].buffer))
  })

  test('says while somebody may still write into it', async () => {
    const source = await sourceOf('readers.ndjson')
    const reading = source.open(never, 0, undefined, into)[Symbol.asyncIterator]()
    expect(into.readers).toBe(0)
    await reading.next()
    expect(into.readers).toBe(1)
    await reading.return?.()
    expect(into.readers).toBe(0)
    await expect(async () => {
      for await (const _ of source.open(AbortSignal.abort(), 0, undefined, into)) throw new Error('it was aborted')
    }).rejects.toThrow('aborted')
    expect(into.readers).toBe(0)
  })

  test('is free again when an input was closed early: the next one reads there undisturbed', async () => {
    const source = await sourceOf('closed.ndjson')
    for (let count = 0; count < 50; count += 1) {
      for await (const part of source.open(never, 0, undefined, into)) {
        expect(Buffer.from(part).toString()).toBe('one two th')
        break
      }
      for (const buffer of into.buffers) buffer.fill('#')
      await new Promise(resolve => setImmediate(resolve))
      for (const buffer of into.buffers) expect(buffer.toString()).toBe('##########')
    }
  })
})
