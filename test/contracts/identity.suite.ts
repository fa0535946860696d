import { readFileSync } from 'node:fs'
import {
  appendFile,
  copyFile,
  link,
  mkdir,
  mkdtemp,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Readable } from 'node:stream'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type IngestEvent,
  type IngestOptions,
  type Receipt,
  connect,
  explain,
  ingest,
  isSluiceError,
} from '../../src/index.js'
import { startLab } from '../../src/lab/index.js'
import { tarOf, zipOf } from '../support/facts/archives.js'
import { workbookOf } from '../support/facts/workbooks.js'
import { newIndex, loadThrough } from './options.js'
import { streamedCases } from './streamed-cases.js'
import { urlCases } from './url-cases.js'
import type { World } from './world.js'

const page = readFileSync(fileURLToPath(new URL('../../docs/guide/same-input.md', import.meta.url)), 'utf8')

/** Rows of the tables on the page. */
const table = [...page.matchAll(/^\| (.+?) \| (.+?) \| (?:(.*?) )?\|$/gm)]
  .map(([, found = '', does = '', says = '']) => ({ found, does, says }))
  .filter(({ found }) => found !== '---' && found !== 'What Sluice finds')

/** What a load did, and said. */
interface Seen {
  /** Absent if the run could not start. */
  readonly receipt: Receipt | undefined
  readonly code?: string
  readonly said: string
}

/** A folder, an index, and what Sluice knows of both. */
class Place {
  readonly world: World
  readonly folder: string
  index = newIndex('least-identity')
  /** Numbers of the documents that the index must hold. */
  holds: number[] = []
  first: Seen | undefined

  constructor(world: World, folder: string) {
    this.world = world
    this.folder = folder
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  async write(name: string, ...numbers: readonly number[]): Promise<void> {
    await writeFile(this.path(name), lines(numbers))
  }

  async load(source: IngestOptions['source'], more: Partial<IngestOptions> = {}): Promise<Seen> {
    const { folder, index } = this
    const said: string[] = []
    const options: IngestOptions = {
      ...loadThrough(this.world, this.world.proxy.http),
      source,
      index,
      stateDir: join(folder, 'state'),
      batchDocs: 10,
      concurrency: 1,
      preflightConnections: 1,
      ...more,
      onEvent: event => {
        more.onEvent?.(event)
        if (event.type === 'warning') said.push(event.message)
        if (event.type === 'preflight') said.push(...event.notes)
      },
    }
    try {
      return { receipt: await ingest(options), said: said.join('\n') }
    } catch (error) {
      if (!isSluiceError(error)) throw error
      return {
        receipt: error.receipt,
        code: error.code,
        said: [...said, error.message].join('\n'),
      }
    }
  }

  /** The first load. */
  async loaded(numbers = range(1, 25), name = 'a.ndjson', more: Partial<IngestOptions> = {}): Promise<void> {
    await this.write(name, ...numbers)
    this.first = await this.load(this.path(name), more)
    expect(this.first).toMatchObject({ receipt: { status: 'finished' } })
    this.holds.push(...numbers)
  }

  /** The first load, stopped in the middle of the file. */
  async begun(
    name = 'a.ndjson',
    numbers = range(1, 200),
    text: string | Uint8Array = lines(numbers),
    more: Partial<IngestOptions> = {},
  ) {
    await writeFile(this.path(name), text)
    const controller = new AbortController()
    this.first = await this.load(this.path(name), {
      ...more,
      signal: controller.signal,
      onEvent: event => {
        if (event.type === 'progress' && event.counts.created >= 20) controller.abort()
      },
    })
    expect(this.first.code).toBe('RUN_INTERRUPTED')
    this.holds.push(...numbers)
  }

  /** The first load, whose documents are all refused by the IP filter. */
  async refused(numbers: readonly number[]): Promise<void> {
    await this.write('a.ndjson', ...numbers)
    let registered: Promise<void> | undefined
    const onEvent = ({ type }: IngestEvent) => {
      if (type === 'preflight') registered = this.world.register('none')
    }
    this.first = await this.load(this.path('a.ndjson'), { onEvent })
    await registered
    await this.world.register('both')
    expect(this.first).toMatchObject({ code: 'EGRESS_NOT_ALLOWED', receipt: { created: 0 } })
  }

  /** Returns what a load did with an input, in the words of the page. */
  did({ receipt, code }: Seen, name: string): string {
    if (code !== undefined) return `Stops with \`${code}\``
    const input = receipt?.inputs.find(one => basename(one.name) === name)
    if (input === undefined) return 'Does not read the file'
    if (input.alreadyLoaded === true) return 'Loads nothing'
    if (receipt?.run === this.first?.receipt?.run) return 'Continues'
    return input.resumedAt === undefined ? 'Loads the whole file' : 'Loads the new lines'
  }
}

type Case = (at: Place) => Promise<readonly [did: string, seen: Seen]>

/** What happens in each row, and what Sluice did. */
const cases: Readonly<Record<string, Case>> = {
  'the same command': async at => {
    await at.loaded()
    return await again(at)
  },
  'a relative path': async at => {
    await at.loaded()
    return await from(at.folder, async () => await again(at, 'a.ndjson'))
  },
  '`./a.ndjson`': async at => {
    await at.loaded()
    return await from(at.folder, async () => await again(at, './a.ndjson'))
  },
  'another working folder': async at => {
    await at.write('a.ndjson', ...range(1, 25))
    await mkdir(at.path('sub'))
    await from(at.folder, async () => (at.first = await at.load('a.ndjson')))
    at.holds = range(1, 25)
    return await from(at.path('sub'), async () => await again(at, '../a.ndjson'))
  },
  'a glob, and another glob': async at => {
    await at.loaded()
    expect(at.did(await at.load(at.path('*.ndjson')), 'a.ndjson')).toBe('Loads nothing')
    return await again(at, at.path('?.nd*'))
  },
  'alone, after a load with others': async at => {
    await at.write('a.ndjson', ...range(1, 25))
    await at.write('b.ndjson', ...range(101, 125))
    at.first = await at.load([at.path('b.ndjson'), at.path('a.ndjson')])
    at.holds = [...range(1, 25), ...range(101, 125)]
    return await again(at)
  },
  'with others, after a load of it alone': async at => {
    await at.loaded()
    await at.write('b.ndjson', ...range(101, 125))
    const seen = await at.load([at.path('b.ndjson'), at.path('a.ndjson')])
    at.holds.push(...range(101, 125))
    expect(at.did(seen, 'b.ndjson')).toBe('Loads the whole file')
    return [`${at.did(seen, 'a.ndjson')} of it`, seen]
  },
  renamed: async at => {
    await at.loaded()
    await rename(at.path('a.ndjson'), at.path('b.ndjson'))
    return await again(at, at.path('b.ndjson'))
  },
  'moved to another folder': async at => {
    await at.loaded()
    await mkdir(at.path('done'))
    await rename(at.path('a.ndjson'), at.path('done/a.ndjson'))
    return await again(at, at.path('done/a.ndjson'))
  },
  'a hard link to it': async at => {
    await at.loaded()
    await link(at.path('a.ndjson'), at.path('b.ndjson'))
    return await again(at, at.path('b.ndjson'))
  },
  'a symbolic link to it': async at => {
    await at.loaded()
    await symlink(at.path('a.ndjson'), at.path('b.ndjson'))
    return await again(at, at.path('b.ndjson'))
  },
  'a symbolic link to it that led to another file in the meantime, and the file was touched': async at => {
    await at.write('monday.ndjson', ...range(1, 25))
    await at.write('tuesday.ndjson', ...range(26, 50))
    const lead = async (name: string) => {
      await rm(at.path('a.ndjson'), { force: true })
      await symlink(at.path(name), at.path('a.ndjson'))
      return await again(at)
    }
    expect((await lead('monday.ndjson'))[0]).toBe('Loads the whole file')
    expect((await lead('tuesday.ndjson'))[0]).toBe('Loads the whole file')
    at.holds = range(1, 50)
    await utimes(at.path('monday.ndjson'), 1, 1)
    return await lead('monday.ndjson')
  },
  'a link to it, beside it in one command': async at => {
    await at.loaded()
    await link(at.path('a.ndjson'), at.path('b.ndjson'))
    await symlink(at.path('a.ndjson'), at.path('c.ndjson'))
    const seen = await at.load(at.path('*.ndjson'))
    expect(seen.receipt?.inputs.every(({ alreadyLoaded }) => alreadyLoaded === true)).toBe(true)
    return ['Loads nothing', seen]
  },
  'moved to another disk, or fetched again under another name': async at => {
    await at.loaded()
    await movedToAnotherDisk(at, 'a.ndjson', 'b.ndjson')
    return await again(at, at.path('b.ndjson'))
  },
  'fetched again under the same name': async at => {
    await at.loaded()
    await writeFile(at.path('new'), lines(range(1, 25)))
    await rename(at.path('new'), at.path('a.ndjson'))
    return await again(at)
  },
  touched: async at => {
    await at.loaded()
    await utimes(at.path('a.ndjson'), 1, 1)
    return await again(at)
  },
  'copied, and both files exist': async at => {
    await at.loaded()
    await copyFile(at.path('a.ndjson'), at.path('b.ndjson'))
    at.holds.push(...range(1, 25))
    const seen = await again(at, [at.path('a.ndjson'), at.path('b.ndjson')], 'b.ndjson')
    expect(at.did(seen[1], 'a.ndjson')).toBe('Loads nothing')
    expect(at.did(await at.load(at.path('*.ndjson')), 'b.ndjson')).toBe('Loads nothing')
    return seen
  },
  'compressed after it was loaded': async at => {
    await at.loaded()
    await packed(at, 'a.ndjson', 'a.ndjson.gz', gzipSync)
    return await again(at, at.path('a.ndjson.gz'))
  },
  'compressed, and both files exist': async at => {
    await at.loaded()
    await writeFile(at.path('a.ndjson.gz'), gzipSync(lines(range(1, 25))))
    at.holds.push(...range(1, 25))
    return await again(at, at.path('a.ndjson*'), 'a.ndjson.gz')
  },
  'compressed by brotli': async at => {
    await at.loaded()
    await packed(at, 'a.ndjson', 'a.ndjson.br', brotliCompressSync)
    return await again(at, at.path('a.ndjson.br'))
  },
  'compressed by bzip2, xz or zstd': async at => {
    const fixture = (name: string) => readFileSync(fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url)))
    await writeFile(at.path('a.ndjson'), '{"n":1}\n{"n":2}\n')
    at.first = await at.load(at.path('a.ndjson'))
    at.holds = [1, 2]
    for (const ending of ['bz2', 'xz']) {
      await packed(at, 'a.ndjson', `a.ndjson.${ending}`, () => fixture(`n2.ndjson.${ending}`))
      expect(at.did(await at.load(at.path('a.ndjson.*')), `a.ndjson.${ending}`)).toBe('Loads nothing')
      await packed(at, `a.ndjson.${ending}`, 'a.ndjson', () => '{"n":1}\n{"n":2}\n')
      expect(at.did(await at.load(at.path('a.ndjson')), 'a.ndjson')).toBe('Loads nothing')
    }
    await packed(at, 'a.ndjson', 'a.ndjson.zst', () => fixture('n2.ndjson.zst'))
    return await again(at, at.path('a.ndjson.zst'))
  },
  'put into an archive, as its first file': async at => {
    await at.loaded()
    await packed(at, 'a.ndjson', 'a.zip', () => zip(range(1, 25), range(26, 30)))
    at.holds.push(...range(26, 30))
    return await again(at, at.path('a.zip'), 'a.zip')
  },

  'lines appended': async at => {
    await at.loaded()
    await append(at, 'a.ndjson', range(26, 30))
    return await again(at)
  },
  'lines appended, and the last line had no line end': async at => {
    await writeFile(at.path('a.ndjson'), '{"n":1}\n{"n":2}')
    at.first = await at.load(at.path('a.ndjson'))
    await appendFile(at.path('a.ndjson'), '\n{"n":3}\n')
    at.holds = range(1, 3)
    return await again(at)
  },
  'the same, and the cluster makes the ids': async at => {
    await writeFile(at.path('a.ndjson'), '{"n":1}\n{"n":2}')
    at.first = await at.load(at.path('a.ndjson'), { ids: 'cluster' })
    await appendFile(at.path('a.ndjson'), '\n{"n":3}\n')
    at.holds = range(1, 3)
    return await again(at, at.path('a.ndjson'), 'a.ndjson', { ids: 'cluster' })
  },
  'renamed, and lines appended': async at => {
    await at.loaded()
    await rename(at.path('a.ndjson'), at.path('b.ndjson'))
    await append(at, 'b.ndjson', range(26, 30))
    return await again(at, at.path('b.ndjson'))
  },
  'of one line: moved to another disk, and lines appended': async at => {
    await at.loaded([1])
    await movedToAnotherDisk(at, 'a.ndjson', 'b.ndjson')
    await append(at, 'b.ndjson', [2])
    return await again(at, at.path('b.ndjson'))
  },
  'of one line: lines appended, then compressed and renamed': async at => {
    await at.loaded([1])
    await rm(at.path('a.ndjson'))
    await writeFile(at.path('b.ndjson.gz'), gzipSync(lines([1, 2])))
    at.holds.push(2)
    return await again(at, at.path('b.ndjson.gz'), 'b.ndjson.gz')
  },
  'of one line: lines appended and loaded, then compressed and renamed': async at => {
    await at.loaded([1])
    await append(at, 'a.ndjson', range(2, 50))
    expect((await at.load(at.path('a.ndjson'))).receipt).toMatchObject({ created: 49 })
    await rm(at.path('a.ndjson'))
    await writeFile(at.path('b.ndjson.gz'), gzipSync(lines(range(1, 50))))
    return await again(at, at.path('b.ndjson.gz'), 'b.ndjson.gz')
  },
  'rotated: renamed and appended to, and a new file has its name': async at => {
    await at.loaded()
    await rename(at.path('a.ndjson'), at.path('b.ndjson'))
    await append(at, 'b.ndjson', range(26, 30))
    await append(at, 'a.ndjson', range(31, 35))
    const [did, seen] = await again(at, at.path('*.ndjson'), 'b.ndjson')
    expect(at.did(seen, 'a.ndjson')).toBe('Loads the whole file')
    return [`${did}, and the new file`, seen]
  },
  'compressed: copied, and then the original was compressed anew with more lines': async at => {
    await writeFile(at.path('a.ndjson.gz'), gzipSync(lines(range(1, 25))))
    at.first = await at.load(at.path('a.ndjson.gz'))
    at.holds = range(1, 25)
    await copyFile(at.path('a.ndjson.gz'), at.path('b.ndjson.gz'))
    await writeFile(at.path('a.ndjson.gz'), gzipSync(lines(range(1, 35))))
    const [did, seen] = await again(at, at.path('b.ndjson.gz'), 'b.ndjson.gz')
    return [`${did} of the copy`, seen]
  },
  'rotated: copied, and then emptied and filled again': async at => {
    await at.loaded()
    await copyFile(at.path('a.ndjson'), at.path('b.ndjson'))
    await truncate(at.path('a.ndjson'))
    await append(at, 'a.ndjson', range(31, 35))
    const [did, seen] = await again(at, at.path('*.ndjson'), 'b.ndjson')
    expect(at.did(seen, 'a.ndjson')).toBe('Loads the whole file')
    return [`${did} of the copy, and the whole new file`, seen]
  },
  'edited in the middle': async at => {
    await at.loaded()
    await rewritten(at, [...range(1, 10), ...range(1011, 1015), ...range(16, 25)])
    return await again(at)
  },
  'edited in the middle at the same size': async at => {
    await at.loaded()
    await rewritten(at, [...range(1, 10), ...range(51, 55), ...range(16, 25)])
    return await again(at)
  },
  'edited in the middle at the same size, with its old modification time': async at => {
    await at.loaded()
    const { atime, mtime } = await stat(at.path('a.ndjson'))
    await rewritten(at, [...range(1, 10), ...range(51, 55), ...range(16, 25)])
    await utimes(at.path('a.ndjson'), atime, mtime)
    return await again(at)
  },
  'edited in the middle, and lines appended': async at => {
    await at.loaded()
    await rewritten(at, [...range(1, 10), ...range(51, 55), ...range(16, 30)])
    return await again(at)
  },
  'cut off': async at => {
    await at.loaded()
    await rewritten(at, range(1, 10))
    return await again(at)
  },
  'replaced by another file': async at => {
    await at.loaded()
    await writeFile(at.path('new'), lines(range(101, 125)))
    await rename(at.path('new'), at.path('a.ndjson'))
    at.holds.push(...range(101, 125))
    return await again(at)
  },
  'moved to another disk, and lines appended': async at => {
    await at.loaded()
    await movedToAnotherDisk(at, 'a.ndjson', 'b.ndjson')
    await append(at, 'b.ndjson', range(26, 30))
    return await again(at, at.path('b.ndjson'))
  },
  'rotated and compressed, and a new file has its name': async at => {
    await at.loaded()
    await packed(at, 'a.ndjson', 'a.ndjson.1.gz', gzipSync)
    await at.write('a.ndjson', ...range(31, 35))
    at.holds.push(...range(31, 35))
    const [did, seen] = await again(at, at.path('a.ndjson*'), 'a.ndjson.1.gz')
    expect(at.did(seen, 'a.ndjson')).toBe('Loads the whole file')
    return [`${did} of it, and the whole new file`, seen]
  },
  'lines appended, then rotated and compressed': async at => {
    await at.loaded()
    await packed(at, 'a.ndjson', 'a.ndjson.1.gz', () => gzipSync(lines(range(1, 30))))
    await at.write('a.ndjson', ...range(31, 35))
    at.holds.push(...range(26, 35))
    const [did, seen] = await again(at, at.path('a.ndjson*'), 'a.ndjson.1.gz')
    expect(at.did(seen, 'a.ndjson')).toBe('Loads the whole file')
    return [`${did}, and the whole new file`, seen]
  },
  'lines appended, then copied, emptied and filled again': async at => {
    await at.loaded()
    await at.write('a.ndjson.1', ...range(1, 30))
    await truncate(at.path('a.ndjson'))
    await appendFile(at.path('a.ndjson'), lines(range(31, 35)))
    at.holds.push(...range(26, 35))
    const [did, seen] = await again(at, at.path('a.ndjson*'), 'a.ndjson.1')
    expect(at.did(seen, 'a.ndjson')).toBe('Loads the whole file')
    return [`${did} of the copy, and the whole new file`, seen]
  },
  'loaded as the rotated file, which was then compressed and renamed': async at => {
    await at.loaded(range(1, 25), 'a.ndjson.1')
    await packed(at, 'a.ndjson.1', 'a.ndjson.2.gz', gzipSync)
    await at.write('a.ndjson.1', ...range(31, 35))
    at.holds.push(...range(31, 35))
    expect(at.did(await at.load(at.path('a.ndjson*')), 'a.ndjson.2.gz')).toBe('Loads nothing')
    await rename(at.path('a.ndjson.2.gz'), at.path('a.ndjson.3.gz'))
    return await again(at, at.path('a.ndjson*'), 'a.ndjson.3.gz')
  },

  interrupted: async at => {
    await at.begun()
    return await again(at)
  },
  'interrupted, then with others': async at => {
    await at.begun()
    await at.write('b.ndjson', ...range(201, 225))
    at.holds.push(...range(201, 225))
    const seen = await again(at, [at.path('b.ndjson'), at.path('a.ndjson')], 'a.ndjson')
    expect(at.did(await at.load(at.path('*.ndjson')), 'b.ndjson')).toBe('Loads nothing')
    return seen
  },
  'interrupted, then lines appended': async at => {
    await at.begun()
    await append(at, 'a.ndjson', range(201, 210))
    return await again(at)
  },
  'interrupted, then edited behind what was read': async at => {
    // Sluice reads ahead of what it sends.
    const long = (numbers: readonly number[]) =>
      numbers.map(n => `{"n":${n},"fill":"${'x'.repeat(30_000)}"}\n`).join('')
    await at.begun('a.ndjson', range(1, 400), long(range(1, 400)))
    at.holds = [...range(1, 390), ...range(591, 600)]
    await writeFile(at.path('a.ndjson'), long(at.holds))
    return await again(at)
  },
  'interrupted, then edited before that': async at => {
    await at.begun()
    return await refusedUntilBack(at, [1, 2, 9, ...range(4, 200)])
  },
  'interrupted, then edited before that, and lines appended': async at => {
    await at.begun()
    return await refusedUntilBack(at, [1, 2, 9, ...range(4, 210)])
  },
  'interrupted, then cut off before that': async at => {
    await at.begun()
    return await refusedUntilBack(at, range(1, 5))
  },
  'interrupted, then replaced by another file': async at => {
    await at.begun()
    await rm(at.path('a.ndjson'))
    return await refusedUntilBack(at, range(201, 400))
  },
  'refused before anything was stored, then replaced by another file': async at => {
    await at.refused(range(1, 25))
    await rm(at.path('a.ndjson'))
    await at.write('a.ndjson', ...range(26, 50))
    at.holds = range(26, 50)
    return await again(at)
  },
  'refused before anything was stored, then compressed and loaded, and a new file has its name': async at => {
    await at.refused(range(1, 25))
    await writeFile(at.path('a.ndjson.1.gz'), gzipSync(lines(range(1, 25))))
    expect((await at.load(at.path('a.ndjson.1.gz'))).receipt).toMatchObject({ created: 25 })
    await at.write('a.ndjson', ...range(26, 50))
    at.holds = range(1, 50)
    return await again(at)
  },
  'interrupted, then replaced, and the old content is back': async at => {
    await at.begun()
    await rm(at.path('a.ndjson'))
    await at.write('a.ndjson', ...range(301, 400))
    expect((await at.load(at.path('a.ndjson'))).code).toBe('INPUT_CHANGED')
    await rm(at.path('a.ndjson'))
    await at.write('a.ndjson', ...range(1, 200))
    return await again(at)
  },
  'interrupted, then renamed': async at => {
    await at.begun()
    await rename(at.path('a.ndjson'), at.path('b.ndjson'))
    return await again(at, at.path('b.ndjson'))
  },
  'interrupted, then moved to another disk': async at => {
    await at.begun()
    await movedToAnotherDisk(at, 'a.ndjson', 'b.ndjson')
    return await again(at, at.path('b.ndjson'))
  },
  'interrupted, then rotated: renamed and appended to, and a new file has its name': async at => {
    await at.begun()
    await rename(at.path('a.ndjson'), at.path('b.ndjson'))
    await append(at, 'b.ndjson', range(201, 210))
    await append(at, 'a.ndjson', range(211, 220))
    const [did, seen] = await again(at, at.path('*.ndjson'), 'b.ndjson')
    expect(seen.receipt?.inputs).toMatchObject([{ status: 'finished', read: 10 }, { status: 'finished' }])
    return [`${did}, and loads the new file`, seen]
  },
  'interrupted, then compressed': async at => {
    await at.begun()
    await packed(at, 'a.ndjson', 'a.ndjson.gz', gzipSync)
    return await again(at, at.path('a.ndjson.gz'))
  },
  'interrupted, then rotated and compressed, and a new file has its name': async at => {
    await at.begun()
    await packed(at, 'a.ndjson', 'a.ndjson.1.gz', gzipSync)
    await at.write('a.ndjson', ...range(201, 210))
    at.holds.push(...range(201, 210))
    const [did, seen] = await again(at, at.path('a.ndjson*'), 'a.ndjson.1.gz')
    expect(at.did(seen, 'a.ndjson')).toBe('Continues')
    return [`${did}, and loads the new file`, seen]
  },
  'interrupted, then copied, and both files exist': async at => {
    await at.begun()
    await copyFile(at.path('a.ndjson'), at.path('b.ndjson'))
    at.holds.push(...range(1, 200))
    const [did, seen] = await again(at, at.path('*.ndjson'), 'a.ndjson')
    expect(seen.receipt?.inputs).toMatchObject([{ status: 'finished' }, { status: 'finished', read: 200 }])
    return [`${did}, and loads the copy`, seen]
  },
  'interrupted, then with `--again`': async at => {
    await at.begun()
    return await again(at, at.path('a.ndjson'), 'a.ndjson', { again: true })
  },
  'interrupted, then with `--again` beside a loaded file': async at => {
    await at.write('b.ndjson', ...range(201, 225))
    await at.load(at.path('b.ndjson'))
    at.holds.push(...range(201, 225))
    await at.begun()
    const [did, seen] = await again(at, at.path('*.ndjson'), 'a.ndjson', { again: true })
    expect(at.did(seen, 'b.ndjson')).toBe('Loads nothing')
    return [`${did}, and loads nothing of the loaded file`, seen]
  },

  '`--again`': async at => {
    await at.loaded()
    at.holds.push(...range(1, 25))
    return await again(at, at.path('a.ndjson'), 'a.ndjson', { again: true })
  },
  'another option that decides what is sent': async at => {
    await at.loaded()
    return await refusedForOptions(at, { ids: 'field', idField: 'n' })
  },
  '`--op index` after `create`, or the other way round': async at => {
    await at.loaded()
    return await again(at, at.path('a.ndjson'), 'a.ndjson', { op: 'index' })
  },
  '`--op index` after `create`, and lines appended': async at => {
    await at.loaded()
    await append(at, 'a.ndjson', range(26, 30))
    return await again(at, at.path('a.ndjson'), 'a.ndjson', { op: 'index' })
  },
  'another option that decides what is sent, and `--again`': async at => {
    await at.loaded()
    at.holds.push(...range(1, 25))
    return await again(at, at.path('a.ndjson'), 'a.ndjson', { op: 'index', again: true })
  },
  'another option, and all documents were rejected before': async at => {
    await writeFile(at.path('a.ndjson'), lines(range(1, 25)))
    at.first = await at.load(at.path('a.ndjson'), { ids: 'field', idField: 'missing' })
    expect(at.first.receipt).toMatchObject({ status: 'finished', rejected: 25, created: 0 })
    at.holds = range(1, 25)
    return await again(at, at.path('a.ndjson'), 'a.ndjson', { ids: 'field', idField: 'n' })
  },
  'interrupted, then another option': async at => {
    await at.begun()
    const seen = await refusedForOptions(at)
    expect(await again(at)).toMatchObject(['Continues', {}])
    return seen
  },
  'refused before anything was stored, then another option': async at => {
    await at.refused(range(1, 25))
    at.holds = range(1, 25)
    return await again(at, at.path('a.ndjson'), 'a.ndjson', { ids: 'field', idField: 'n' })
  },
  'interrupted, then another option, and all documents were rejected before': async at => {
    await at.write('a.ndjson', ...range(1, 200))
    at.first = await at.load(at.path('a.ndjson'), { ids: 'field', idField: 'missing', maxRejected: 20 })
    expect(at.first.code).toBe('TOO_MANY_REJECTED')
    at.holds = range(1, 200)
    return await again(at, at.path('a.ndjson'), 'a.ndjson', { ids: 'field', idField: 'n' })
  },
  'another option that does not decide what is sent': async at => {
    await at.loaded()
    return await again(at, at.path('a.ndjson'), 'a.ndjson', { batchDocs: 3, concurrency: 2, compress: 'gzip' })
  },

  'the same cluster by another URL': async at => {
    await at.loaded()
    const { target } = loadThrough(at.world, at.world.proxy.http, 'http')
    return await again(at, at.path('a.ndjson'), 'a.ndjson', { target: { ...target, allowPlaintext: true } })
  },
  'with a key that cannot identify the cluster': async at => {
    await at.loaded()
    return await again(at, at.path('a.ndjson'), 'a.ndjson', leastPrivilege(at))
  },
  'loaded with such a key, then with a key that can': async at => {
    await at.loaded(range(1, 25), 'a.ndjson', leastPrivilege(at))
    return await again(at)
  },
  'another index': async at => {
    await at.loaded()
    at.index = newIndex('least-identity')
    return await again(at)
  },
  'another cluster': async at => {
    await at.loaded()
    await using lab = await startLab()
    const { url, apiKey, caFile } = lab.line.cluster
    const other = { target: { url, apiKey, ca: readFileSync(caFile) }, proxy: lab.line.proxy.http }
    const seen = await again(at, at.path('a.ndjson'), 'a.ndjson', other)
    expect(lab.control.count(at.index)).toBe(25)
    return seen
  },
  'the index was deleted': async at => {
    await at.loaded()
    await withClient(at, async ({ indices }) => await indices.delete({ index: at.index }))
    return await again(at)
  },
  'the index was deleted and made again': async at => {
    await at.loaded()
    await withClient(at, async ({ indices }) => {
      await indices.delete({ index: at.index })
      await indices.create({ index: at.index })
    })
    return await again(at)
  },

  'gzip: the same file, renamed': async at => {
    await loadedAs(at, 'a.ndjson.gz', numbers => gzipSync(lines(numbers)))
    await rename(at.path('a.ndjson.gz'), at.path('b.ndjson.gz'))
    return await again(at, at.path('b.ndjson.gz'))
  },
  'gzip: another member appended': async at => {
    await loadedAs(at, 'a.ndjson.gz', numbers => gzipSync(lines(numbers)))
    await appendFile(at.path('a.ndjson.gz'), gzipSync(lines(range(26, 30))))
    at.holds.push(...range(26, 30))
    return await again(at, at.path('a.ndjson.gz'))
  },
  'gzip: one more line in the middle': async at => {
    await loadedAs(at, 'a.ndjson.gz', numbers => gzipSync(lines(numbers)))
    await writeFile(at.path('a.ndjson.gz'), gzipSync(lines([...range(1, 10), 99, ...range(11, 25)])))
    at.holds.push(99, ...range(1, 25))
    return await again(at, at.path('a.ndjson.gz'))
  },
  'gzip: interrupted': async at => {
    const text = lines(range(1, 200))
    await at.begun('a.ndjson.gz', range(1, 200), gzipSync(text))
    return await again(at, at.path('a.ndjson.gz'))
  },
  'gzip: interrupted, then compressed again to other bytes': async at => {
    await at.begun('a.ndjson.gz', range(1, 200), gzipSync(lines(range(1, 200))))
    await writeFile(at.path('a.ndjson.gz'), gzipSync(lines(range(1, 200)), { level: 0 }))
    return await again(at, at.path('a.ndjson.gz'))
  },
  'gzip: unpacked': async at => {
    await loadedAs(at, 'a.ndjson.gz', numbers => gzipSync(lines(numbers)))
    await packed(at, 'a.ndjson.gz', 'a.ndjson', () => lines(range(1, 25)))
    return await again(at)
  },
  'gzip: unpacked, and lines appended': async at => {
    await loadedAs(at, 'a.ndjson.gz', numbers => gzipSync(lines(numbers)))
    await packed(at, 'a.ndjson.gz', 'a.ndjson', () => lines(range(1, 30)))
    at.holds.push(...range(26, 30))
    return await again(at)
  },
  'gzip: the same lines compressed again to other bytes': async at => {
    await loadedAs(at, 'a.ndjson.gz', numbers => gzipSync(lines(numbers), { level: 1 }))
    await writeFile(at.path('a.ndjson.gz'), gzipSync(lines(range(1, 25)), { level: 0 }))
    return await again(at, at.path('a.ndjson.gz'))
  },
  'JSON array: the same file, renamed': async at => {
    await loadedAs(at, 'a.json', array)
    await rename(at.path('a.json'), at.path('b.json'))
    return await again(at, at.path('b.json'))
  },
  'JSON array: one more element': async at => {
    await loadedAs(at, 'a.json', array)
    await writeFile(at.path('a.json'), array(range(1, 26)))
    at.holds.push(26)
    return await again(at, at.path('a.json'))
  },
  'JSON array: copied, and then the original got one more element': async at => {
    await loadedAs(at, 'a.json', array)
    await copyFile(at.path('a.json'), at.path('b.json'))
    await writeFile(at.path('a.json'), array(range(1, 26)))
    const [did, seen] = await again(at, at.path('b.json'), 'b.json')
    return [`${did} of the copy`, seen]
  },
  'JSON array: interrupted': async at => {
    await at.begun('a.json', range(1, 200), array(range(1, 200)))
    return await again(at, at.path('a.json'))
  },
  'CSV: the same file, renamed': async at => {
    await loadedCsv(at)
    await rename(at.path('a.csv'), at.path('b.csv'))
    return await again(at, at.path('b.csv'), 'b.csv', csv)
  },
  'CSV: rows appended': async at => {
    await loadedCsv(at)
    await appendFile(at.path('a.csv'), rows(range(26, 30)))
    at.holds.push(...range(26, 30))
    return await again(at, at.path('a.csv'), 'a.csv', csv)
  },
  'CSV: rows appended, and the last row had no line end': async at => {
    await loadedOpenRow(at)
    await appendFile(at.path('a.csv'), '\n3,z\n')
    at.holds.push(3)
    return await again(at, at.path('a.csv'), 'a.csv', csv)
  },
  'CSV: the last row had no line end, and is longer now': async at => {
    await loadedOpenRow(at)
    await appendFile(at.path('a.csv'), 'c\n3,z\n')
    at.holds.push(1, 2, 3)
    return await again(at, at.path('a.csv'), 'a.csv', csv)
  },
  'CSV in gzip: the last row had no line end, and is longer in another member': async at => {
    await loadedOpenRow(at, 'a.csv.gz', gzipSync)
    await appendFile(at.path('a.csv.gz'), gzipSync('c\n3,z\n'))
    at.holds.push(1, 2, 3)
    return await again(at, at.path('a.csv.gz'), 'a.csv.gz', csv)
  },
  'CSV in UTF-16: rows appended, and the last row had no line end': async at => {
    await loadedOpenRow(at, 'a.csv', text => Buffer.from(`\ufeff${text}`, 'utf16le'))
    await appendFile(at.path('a.csv'), Buffer.from('\r\n3,z', 'utf16le'))
    at.holds.push(3)
    return await again(at, at.path('a.csv'), 'a.csv', csv)
  },
  'CSV: interrupted': async at => {
    await at.begun('a.csv', range(1, 200), `n,text\n${rows(range(1, 200))}`, csv)
    return await again(at, at.path('a.csv'), 'a.csv', csv)
  },
  'CSV: other types, another delimiter or another such option': async at => {
    await loadedCsv(at)
    expect(await again(at, at.path('a.csv'), 'a.csv', { csv: { ...csv.csv, empty: 'null' } })).toMatchObject([
      'Stops with `RUN_OPTIONS_CHANGED`',
      {},
    ])
    return await again(at, at.path('a.csv'), 'a.csv', { csv: { types: { n: 'double' } } })
  },
  'CSV: the delimiter that Sluice has detected, now as an option': async at => {
    await loadedCsv(at)
    return await again(at, at.path('a.csv'), 'a.csv', { csv: { ...csv.csv, delimiter: ',' } })
  },
  'CSV: interrupted, then another such option': async at => {
    const text = `n,text\n${rows(range(1, 200))}`
    await at.begun('a.csv', range(1, 200), text, csv)
    const refused = await again(at, at.path('a.csv'), 'a.csv', { csv: { ...csv.csv, quote: "'" } })
    expect(await again(at, at.path('a.csv'), 'a.csv', csv)).toMatchObject(['Continues', {}])
    return refused
  },
  'elasticdump: the same file, renamed': async at => {
    await loadedAs(at, 'a.json', hits)
    await rename(at.path('a.json'), at.path('b.json'))
    return await again(at, at.path('b.json'), 'b.json')
  },
  'elasticdump: hits appended': async at => {
    await loadedAs(at, 'a.json', hits)
    await appendFile(at.path('a.json'), hits(range(26, 30)))
    at.holds.push(...range(26, 30))
    return await again(at, at.path('a.json'), 'a.json')
  },
  'elasticdump: interrupted': async at => {
    await at.begun('a.json', range(1, 200), hits(range(1, 200)))
    return await again(at, at.path('a.json'), 'a.json')
  },
  'a `_bulk` file: actions appended': async at => {
    await loadedAs(at, 'a.txt', actions)
    await appendFile(at.path('a.txt'), actions(range(26, 30)))
    at.holds.push(...range(26, 30))
    return await again(at, at.path('a.txt'), 'a.txt')
  },
  'a `_bulk` file: interrupted': async at => {
    await at.begun('a.txt', range(1, 200), actions(range(1, 200)))
    return await again(at, at.path('a.txt'), 'a.txt')
  },
  'a `_bulk` file: the format that Sluice has recognised, now as an option': async at => {
    await loadedAs(at, 'a.txt', actions)
    return await again(at, at.path('a.txt'), 'a.txt', { format: 'bulk' })
  },
  'ZIP archive: the same file, renamed': async at => {
    await loadedAs(at, 'a.zip', zip)
    await rename(at.path('a.zip'), at.path('b.zip'))
    return await again(at, at.path('b.zip'), 'b.zip')
  },
  'ZIP archive: one more file in it': async at => {
    await loadedAs(at, 'a.zip', zip)
    await writeFile(at.path('a.zip'), zip(range(1, 25), range(26, 30)))
    at.holds.push(...range(26, 30))
    return await again(at, at.path('a.zip'), 'a.zip')
  },
  'ZIP archive: one more file before the others': async at => {
    await loadedAs(at, 'a.zip', zip)
    await writeFile(at.path('a.zip'), zip(range(26, 30), range(1, 25)))
    at.holds.push(...range(1, 30))
    return await again(at, at.path('a.zip'), 'a.zip')
  },
  'ZIP archive: its one file taken out': async at => {
    await loadedAs(at, 'a.zip', zip)
    await packed(at, 'a.zip', 'a.ndjson', () => lines(range(1, 25)))
    return await again(at)
  },
  'ZIP archive: interrupted': async at => {
    await at.begun('a.zip', range(1, 200), zip(range(1, 5), range(6, 150), range(151, 200)))
    return await again(at, at.path('a.zip'), 'a.zip')
  },
  'ZIP archive: files in it by a path, and then by `--members`': async at => {
    await writeFile(at.path('a.zip'), zip(range(1, 25)))
    at.first = await at.load(at.path('a.zip/*.ndjson'))
    at.holds = range(1, 25)
    const seen = await at.load(at.path('a.zip'), { members: '*.ndjson' })
    return [at.did(seen, 'a.zip'), seen]
  },
  'tar archive: one more file in it': async at => {
    await loadedAs(at, 'a.tar', tar)
    await writeFile(at.path('a.tar'), tar(range(1, 25), range(26, 30)))
    at.holds.push(...range(26, 30))
    return await again(at, at.path('a.tar'), 'a.tar')
  },
  'tar archive in gzip: interrupted': async at => {
    await at.begun('a.tgz', range(1, 200), gzipSync(tar(range(1, 5), range(6, 150), range(151, 200))))
    return await again(at, at.path('a.tgz'), 'a.tgz')
  },
  'Parquet: the same file, renamed': async at => {
    await loadedAs(at, 'a.parquet', () => parquet(25))
    await rename(at.path('a.parquet'), at.path('b.parquet'))
    return await again(at, at.path('b.parquet'), 'b.parquet')
  },
  'Parquet: written again with more rows': async at => {
    await loadedAs(at, 'a.parquet', () => parquet(25))
    await writeFile(at.path('a.parquet'), parquet(200))
    at.holds.push(...range(26, 200))
    return await again(at, at.path('a.parquet'), 'a.parquet')
  },
  'Parquet: interrupted': async at => {
    await at.begun('a.parquet', range(1, 200), parquet(200))
    return await again(at, at.path('a.parquet'), 'a.parquet')
  },
  'workbook: the same file, renamed': async at => {
    await loadedAs(at, 'a.xlsx', () => workbook(25))
    await rename(at.path('a.xlsx'), at.path('b.xlsx'))
    return await again(at, at.path('b.xlsx'), 'b.xlsx')
  },
  'workbook: saved again with more rows': async at => {
    await loadedAs(at, 'a.xlsx', () => workbook(25))
    await writeFile(at.path('a.xlsx'), workbook(200))
    at.holds.push(...range(26, 200))
    return await again(at, at.path('a.xlsx'), 'a.xlsx')
  },
  'workbook: its first sheet, now by its name': async at => {
    await loadedAs(at, 'a.xlsx', () => workbook(25))
    return await again(at, at.path('a.xlsx'), 'a.xlsx', { sheet: 'Data' })
  },
  'workbook: interrupted': async at => {
    await at.begun('a.xlsx', range(1, 200), workbook(200))
    return await again(at, at.path('a.xlsx'), 'a.xlsx')
  },
  'stdin, a pipe or a stream': async at => {
    const stream = () => Readable.from([Buffer.from(lines(range(1, 25)))], { objectMode: false })
    at.first = await at.load(stream())
    at.holds = [...range(1, 25), ...range(1, 25)]
    return await again(at, stream(), '(stream)')
  },
  ...urlCases,
  ...streamedCases,
}

const csv = { csv: { types: { n: 'long' } } } as const
const rows = (numbers: readonly number[]) => numbers.map(n => `${n},"two\nlines"\n`).join('')

const hits = (numbers: readonly number[]) => numbers.map(n => `{"_id":"${n}","_source":{"n":${n}}}\n`).join('')
/** Every third has no id. */
const actions = (numbers: readonly number[]) =>
  numbers.map(n => `{"index":${n % 3 === 0 ? '{}' : `{"_id":"${n}"}`}}\n{"n":${n}}\n`).join('')

/** A file of row groups with 50 rows each. */
const parquet = (rows: 25 | 200) =>
  readFileSync(fileURLToPath(new URL(`../../fixtures/parquet/n${rows}.parquet`, import.meta.url)))

const workbook = (count: number) =>
  workbookOf({ sheets: [{ name: 'Data', rows: [['n'], ...range(1, count).map(n => [n])] }] })

/** Archives of several files, each with lines of such numbers. */
const zip = (...of: readonly (readonly number[])[]) => zipOf(filesOf(of))
const tar = (...of: readonly (readonly number[])[]) => tarOf(filesOf(of))
const filesOf = (of: readonly (readonly number[])[]) =>
  of.map((numbers, at) => ({ name: `${at}.ndjson`, data: lines(numbers) }))

/** Writes the text of a file in another form, under another name, and removes the file. */
async function packed(at: Place, from: string, to: string, pack: (text: Buffer) => string | Uint8Array): Promise<void> {
  const text = readFileSync(at.path(from))
  await rm(at.path(from))
  await writeFile(at.path(to), pack(text))
}

async function loadedAs(
  at: Place,
  name: string,
  text: (numbers: readonly number[]) => string | Uint8Array,
  more: Partial<IngestOptions> = {},
): Promise<void> {
  await writeFile(at.path(name), text(range(1, 25)))
  at.first = await at.load(at.path(name), more)
  expect(at.first).toMatchObject({ receipt: { created: 25 } })
  at.holds = range(1, 25)
}

async function loadedCsv(at: Place): Promise<void> {
  await loadedAs(at, 'a.csv', numbers => `n,text\n${rows(numbers)}`, csv)
}

/** Loads two rows. The last one has no line end. */
async function loadedOpenRow(
  at: Place,
  name = 'a.csv',
  pack: (text: string) => string | Uint8Array = text => text,
): Promise<void> {
  await writeFile(at.path(name), pack('n,text\n1,a\n2,ab'))
  at.first = await at.load(at.path(name), csv)
  expect(at.first).toMatchObject({ receipt: { created: 2 } })
  at.holds = [1, 2]
}

/** Loads once more. `name`: the file that the row is about. */
async function again(
  at: Place,
  source: IngestOptions['source'] = at.path('a.ndjson'),
  name = typeof source === 'string' ? basename(source) : 'a.ndjson',
  more: Partial<IngestOptions> = {},
): ReturnType<Case> {
  const seen = await at.load(source, more)
  const [only, ...others] = seen.receipt?.inputs ?? []
  return [at.did(seen, only !== undefined && others.length === 0 ? basename(only.name) : name), seen]
}

/** Puts the old content back in the end. */
async function refusedUntilBack(at: Place, numbers: readonly number[]): ReturnType<Case> {
  await at.write('a.ndjson', ...numbers)
  const refused = await again(at)
  await at.write('a.ndjson', ...at.holds)
  expect(await again(at)).toMatchObject(['Continues', {}])
  return refused
}

async function refusedForOptions(at: Place, more: Partial<IngestOptions> = { op: 'index' }): ReturnType<Case> {
  const seen = await again(at, at.path('a.ndjson'), 'a.ndjson', more)
  const { exit, fixes } = explain('RUN_OPTIONS_CHANGED')
  expect({ exit, fixes: fixes.join() }).toEqual({ exit: 2, fixes: expect.stringContaining('--again') as string })
  return seen
}

async function append(at: Place, name: string, numbers: readonly number[]): Promise<void> {
  await appendFile(at.path(name), lines(numbers))
  at.holds.push(...numbers)
}

/** A loaded file has another content: all of it is loaded. */
async function rewritten(at: Place, numbers: readonly number[]): Promise<void> {
  await at.write('a.ndjson', ...numbers)
  at.holds.push(...numbers)
}

async function movedToAnotherDisk(at: Place, name: string, to: string): Promise<void> {
  await copyFile(at.path(name), at.path(to))
  await rm(at.path(name))
}

async function from<Result>(folder: string, run: () => Promise<Result>): Promise<Result> {
  const before = process.cwd()
  process.chdir(folder)
  try {
    return await run()
  } finally {
    process.chdir(before)
  }
}

function leastPrivilege({ world }: Place): Pick<IngestOptions, 'target'> {
  const { target } = loadThrough(world, world.proxy.http)
  return { target: { ...target, apiKey: world.cluster.leastPrivilegeApiKey } }
}

async function withClient(
  { world }: Place,
  run: (client: Awaited<ReturnType<typeof connect>>['client']) => Promise<unknown>,
): Promise<void> {
  const { deadLetters: _, ...way } = loadThrough(world, world.proxy.http)
  await using direct = await connect({ ...way, preflightConnections: 1 })
  await run(direct.client)
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
}

function lines(numbers: readonly number[]): string {
  return numbers.map(n => `{"n":${n}}\n`).join('')
}

function array(numbers: readonly number[]): string {
  return JSON.stringify(numbers.map(n => ({ n })))
}

/** Rows in which the cluster has a part: its name, its index, its keys and its ids, and what it holds of each format after a stop. */
const ofTheCluster = new Set([
  'the same command',
  'lines appended',
  'the same, and the cluster makes the ids',
  'interrupted',
  'interrupted, then another option, and all documents were rejected before',
  'the same cluster by another URL',
  'with a key that cannot identify the cluster',
  'loaded with such a key, then with a key that can',
  'another index',
  'another cluster',
  'the index was deleted',
  'the index was deleted and made again',
  'gzip: interrupted',
  'JSON array: interrupted',
  'CSV: interrupted',
  'elasticdump: interrupted',
  'a `_bulk` file: interrupted',
  'ZIP archive: interrupted',
  'Parquet: interrupted',
])

/** Checks cases of the page "How Sluice recognises an input". */
export function describeIdentity(world: () => World, rows: 'all' | 'of the cluster'): void {
  describe('an input that comes again', () => {
    let folder: string
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'identity-'))
    })
    afterEach(async () => await rm(folder, { recursive: true }))

    test('has a row on the page for each case', () => {
      expect(table.map(({ found }) => found)).toEqual(Object.keys(cases))
      expect([...ofTheCluster].filter(found => !(found in cases))).toEqual([])
    })

    test.each(table.filter(({ found }) => rows === 'all' || ofTheCluster.has(found)))(
      '$found',
      async ({ found, does, says }) => {
        const at = new Place(world(), folder)
        const [did, { said }] = await (cases[found] as Case)(at)
        expect({ did, said }).toEqual({ did: does, said: expect.stringMatching(sentence(says)) as string })
        const documents = await world().documents(at.index)
        const numbers = documents.map(text => (JSON.parse(text) as { n: number }).n)
        expect(numbers.toSorted((a, b) => a - b)).toEqual(at.holds.toSorted((a, b) => a - b))
      },
    )
  })
}

/** Paths are longer in a test than on the page, and runs have names. */
function sentence(says: string): RegExp {
  const parts = says.replaceAll(/^`|`$/g, '').split(/(…|\b[ab]\.(?:ndjson|json|csv|zip|parquet|xlsx)(?:\.gz)?)/)
  const pattern = parts.map(part => (part === '…' ? '.*' : part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)))
  return new RegExp(pattern.map((part, at) => (at % 2 === 1 && part !== '.*' ? `\\S*${part}` : part)).join(''))
}
