import {
  appendFile,
  copyFile,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fileStat } from '../../../../../src/base/checksum/checksum.js'
import type { FileStat, Source } from '../../../../../src/base/flow.js'
import { nothing } from '../../../../../src/pipeline/ledger/account.js'
import { findFiles } from '../../../../../src/pipeline/source/find-files.js'
import { StoredInput } from '../../../../../src/pipeline/source/stored-file.js'
import { type Checkpoint, type CheckpointInput, START } from '../../../../../src/run/state/checkpoint/checkpoint.js'
import { tableOf } from '../../../../support/load/file-table.js'
import { identityOf } from '../../../../../src/run/state/inputs/content.js'
import { recognise } from '../../../../../src/run/state/inputs/recognise.js'
import type { Recognised } from '../../../../../src/run/state/inputs/recognised.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'known-inputs-'))
})
afterEach(async () => await rm(folder, { recursive: true }))

const at = (name: string) => join(folder, name)
const lines = (count: number, from = 1) => Array.from({ length: count }, (_, n) => `{"n":${from + n}}\n`).join('')

/** An input that counts how often its content is read for a comparison. */
class Counted extends StoredInput {
  compared = 0

  override async sums(ends: readonly number[]) {
    this.compared += 1
    return await super.sums(ends)
  }
}

/** The file as a command finds it, long after its last change. */
async function find(name: string, more: Partial<FileStat> = {}): Promise<Counted> {
  const { size, ino: inode, mtimeMs, ctimeMs } = await stat(at(name))
  const table = tableOf(folder, name, { size, inode, mtimeMs, ctimeMs, ...more })
  await table.real.find(0, at(name), (await lstat(at(name))).isSymbolicLink())
  return new Counted(0, table)
}

let tokens = 0

/** What a run keeps of a file that it has read. */
async function loaded(name: string, more: Partial<CheckpointInput> = {}): Promise<CheckpointInput> {
  const source = await find(name)
  for await (const _ of source.open(new AbortController().signal));
  const token = `t${(tokens += 1)}`
  // A file that was written just now has no time of change.
  const file = { ...identityOf(source), stat: source.stat }
  return { id: tokens, name, token, status: 'finished', mark: START, read: 1, hasStored: true, file, ...more }
}

/** The same, of a run that was interrupted when it had read so many bytes. */
async function begun(name: string, bytes: number): Promise<CheckpointInput> {
  const source = await find(name)
  const [sum = ''] = await source.sums([bytes])
  return await loaded(name, { status: 'begun', file: { path: at(name), stat: source.stat, bytes, sum } })
}

function run(name: string, ...inputs: CheckpointInput[]): Checkpoint {
  const target = { url: 'https://c', index: 'i' }
  const whole = { status: 'finished', began: name, written: name, target, scope: 'i', key: 'k', sources: [] } as const
  return { run: name, ...whole, options: {}, isDoubtful: false, inputs, left: 0, counts: nothing, rejections: [] }
}

/** What the inputs of a command are, by their names. */
async function seen(runs: readonly Checkpoint[], ...sources: readonly Source[]): Promise<Record<string, unknown>> {
  const recognised = await recognise(sources, runs)
  return Object.fromEntries(sources.map((source, number) => [source.name, told(recognised[number])]))
}

function told(one: Recognised | undefined): unknown {
  if (one === undefined) return 'new'
  if (one.kind === 'new') return one.twin === undefined ? 'new' : { twin: one.twin.input.name }
  const { name } = one.known.input
  if (one.kind === 'changed') return { changed: name, observed: one.observed }
  return { known: name, ...(one.moved === undefined ? {} : { moved: one.moved }) }
}

const known = (name: string, was = name) =>
  name === was ? { [name]: { known: name } } : { [name]: { known: was, moved: at(was) } }

describe('a file in its place', () => {
  test('that is unchanged is known without reading it', async () => {
    await writeFile(at('a'), lines(20))
    const first = run('1', await loaded('a'))
    const now = await find('a')
    expect(await seen([first], now)).toEqual(known('a'))
    expect(now.compared).toBe(0)
    const recognised = (await recognise([now], [first]))[0]
    expect(recognised?.kind).toBe('known')
    expect(recognised).not.toHaveProperty('file')
  })

  test('that has only another time is known by its content, and by its new time from then on', async () => {
    await writeFile(at('a'), lines(20))
    const before = await loaded('a')
    await utimes(at('a'), 1, 1)
    const now = await find('a')
    expect(await seen([run('1', before)], now)).toEqual(known('a'))
    expect(now.compared).toBe(1)
    const recognised = (await recognise([now], [run('1', before)]))[0]
    expect(recognised).toMatchObject({ kind: 'known', file: { stat: now.stat, bytes: now.stat.size } })
  })

  test('that changed so recently that its time may stay the same is compared', async () => {
    await writeFile(at('a'), lines(20))
    const now = await find('a')
    const { mtimeMs } = now.stat
    const racy = fileStat(await stat(at('a')))
    expect(racy).toEqual({ ...now.stat, ctimeMs: 0 })
    const old = fileStat(Object.assign(await stat(at('a')), { ctimeMs: Date.now() - 60_000 }))
    expect(old.ctimeMs).toBeGreaterThan(0)
    const before = await loaded('a')
    const raced = { ...before, file: { ...(before.file ?? { path: '', bytes: 0, sum: '' }), stat: racy } }
    expect(await seen([run('1', raced)], now)).toEqual(known('a'))
    expect(now.compared).toBe(1)
    // The same size and the same times, and another content.
    await writeFile(at('a'), lines(20).replace('7', '8'))
    const other = await find('a', { mtimeMs, ctimeMs: 0 })
    expect(await seen([run('1', raced)], other)).toEqual({ a: 'new' })
  })

  test.each([['a'], ['a.gz']])('that has grown is known, and shows how far it was read: %s', async name => {
    const text = name === 'a' ? lines(20) : gzipSync(lines(20))
    await writeFile(at(name), text)
    const before = await loaded(name)
    await appendFile(at(name), name === 'a' ? lines(5, 21) : gzipSync(lines(5, 21)))
    const now = await find(name)
    const recognised = (await recognise([now], [run('1', before)]))[0]
    expect(recognised).toMatchObject({ kind: 'known', file: { bytes: text.length, stat: now.stat } })
    expect(now.stat.size).toBeGreaterThan(text.length)
  })

  test('with another content is new once it was loaded, and refused while it is not', async () => {
    const text = lines(20_000)
    for (const [change, observed] of [
      [
        async () => await writeFile(at('a'), text.replace('{"n":10000}', '{"n":10001}')),
        'the part that Sluice read has changed',
      ],
      [async () => await writeFile(at('a'), `\n${text}`), 'the part that Sluice read has changed'],
      [async () => await truncate(at('a'), 999), 'it has only 999 bytes now'],
    ] as const) {
      await writeFile(at('a'), text)
      const [whole, part] = [await loaded('a'), await begun('a', 180_000)]
      await change()
      expect(await seen([run('1', whole)], await find('a'))).toEqual({ a: 'new' })
      expect(await seen([run('1', part)], await find('a'))).toEqual({ a: { changed: 'a', observed } })
    }
  })

  test('with another content only behind what was read is known', async () => {
    await writeFile(at('a'), lines(100))
    const part = await begun('a', 300)
    await writeFile(at('a'), lines(100).slice(0, 300) + lines(7, 500))
    expect(await seen([run('1', part)], await find('a'))).toEqual(known('a'))
  })

  test('of which nothing was sent is known, whatever it holds now', async () => {
    await writeFile(at('a'), lines(10))
    const part = await begun('a', 0)
    await writeFile(at('a'), lines(3, 50))
    expect(await seen([run('1', part)], await find('a'))).toEqual(known('a'))
  })

  test('is new when its first content comes back after another one was loaded', async () => {
    await writeFile(at('a'), lines(20))
    const first = run('1', await loaded('a'))
    await writeFile(at('a'), lines(20, 500))
    const second = run('2', await loaded('a'))
    await writeFile(at('a'), lines(20))
    const runs = [second, first]
    expect(await seen(runs, await find('a'))).toEqual({ a: 'new' })
    // Also as a new file of that name, and what it replaced may turn up elsewhere.
    await rm(at('a'))
    await writeFile(at('a'), lines(20))
    expect(await seen(runs, await find('a'))).toEqual({ a: 'new' })
    await writeFile(at('b'), lines(20, 500))
    expect(await seen(runs, await find('a'), await find('b'))).toEqual({ a: 'new', ...known('b', 'a') })
  })

  test('is what its run began last, if that has read two contents of it', async () => {
    await writeFile(at('a'), lines(20))
    const before = await loaded('a')
    await writeFile(at('a'), lines(20, 500))
    const after = await loaded('a')
    await utimes(at('a'), 1, 1)
    const first = run('1', before, after)
    const now = await find('a')
    expect((await recognise([now], [first]))[0]).toMatchObject({ kind: 'known', known: { input: after } })
    await writeFile(at('a'), lines(20))
    expect(await seen([first], await find('a'))).toEqual({ a: 'new' })
  })

  test('is what the newest of its runs says', async () => {
    await writeFile(at('a'), lines(20))
    const first = await begun('a', 90)
    await appendFile(at('a'), lines(5, 21))
    const { file } = await loaded('a')
    const second: CheckpointInput = { ...first, status: 'finished', ...(file === undefined ? {} : { file }) }
    const now = await find('a')
    const recognised = (await recognise([now], [run('2', second), run('1', first)]))[0]
    expect(recognised).toMatchObject({ known: { run: { run: '2' }, input: { status: 'finished' } } })
  })
})

describe('a run that continues after a newer one has begun', () => {
  test('has the newest content of a name, if it took that up then', async () => {
    await writeFile(at('a'), lines(20))
    const newer = run('2', await loaded('a'))
    await writeFile(at('a'), lines(20, 500))
    const older = run('1', await loaded('a', { since: '3' }))
    expect(await seen([newer, older], await find('a', { mtimeMs: 1 }))).toEqual(known('a'))
    await writeFile(at('a'), lines(20))
    expect(await seen([newer, older], await find('a'))).toEqual({ a: 'new' })
  })

  test('knows an input best that it took over', async () => {
    await writeFile(at('a'), lines(20))
    const first = await loaded('a')
    await appendFile(at('a'), lines(5, 21))
    const { file } = await loaded('a')
    const second = { ...first, id: 7, since: '3', start: { document: 21, wasRead: false }, file }
    const now = await find('a', { mtimeMs: 1 })
    const recognised = (await recognise([now], [run('2', first), run('1', second)]))[0]
    expect(recognised).toMatchObject({ known: { run: { run: '1' }, input: { id: 7 } }, file: { bytes: now.stat.size } })
  })

  test('knows an input best that it has loaded more of since another run found it again', async () => {
    await writeFile(at('a'), lines(20))
    const before = await loaded('a', { mark: { ...START, document: 21 } })
    const found = { ...before, read: 0, start: { document: 21, wasRead: false } }
    await appendFile(at('a'), lines(5, 21))
    const { file } = await loaded('a')
    const now = await find('a', { mtimeMs: 1 })
    const runs = [run('2', found), run('1', { ...before, mark: { ...START, document: 26 }, file })]
    expect((await recognise([now], runs))[0]).toMatchObject({ known: { input: { mark: { document: 26 } } } })
  })
})

test('a file is finished if a later run found nothing left of it', async () => {
  await writeFile(at('a'), lines(20))
  const mark = { ...START, document: 21 }
  const first = await loaded('a', { status: 'begun', mark })
  const second: CheckpointInput = { ...first, status: 'finished', read: 0, start: { document: 21, wasRead: false } }
  const now = await find('a')
  const recognised = (await recognise([now], [run('2', second), run('1', first)]))[0]
  expect(recognised).toMatchObject({ run: { run: '1' }, input: { status: 'finished', mark, read: 1 } })
})

test('the run that loaded a file is named, and none that only found it again', async () => {
  await writeFile(at('a'), lines(20))
  const input = await loaded('a')
  const first = run('1', input)
  await rename(at('a'), at('b'))
  const { stat: now } = await find('b')
  const { file } = input
  const found = (id: number): CheckpointInput => ({
    ...input,
    id,
    name: 'b',
    read: 0,
    start: { document: input.mark.document, wasRead: false },
    ...(file === undefined ? {} : { file: { ...file, path: at('b'), stat: now } }),
  })
  const b = await find('b')
  const recognised = (await recognise([b], [run('3', found(3)), run('2', found(2)), first]))[0]
  expect(recognised).toMatchObject({ kind: 'known', known: { run: { run: '1' }, input: { id: input.id, name: 'b' } } })
  expect(recognised).not.toHaveProperty('moved')
  expect(b.compared).toBe(0)
  // The run that loaded it was undone.
  expect(await seen([run('3', found(3)), run('2', found(2))], b)).toEqual({ b: 'new' })
})

describe('a file under another name', () => {
  test('is known if it was renamed, also before it was loaded to its end, and also after it has grown', async () => {
    for (const grown of [false, true]) {
      await writeFile(at('a'), lines(20))
      const [whole, part] = [await loaded('a'), await begun('a', 90)]
      await rename(at('a'), at('b'))
      if (grown) await appendFile(at('b'), lines(3))
      for (const one of [whole, part]) expect(await seen([run('1', one)], await find('b'))).toEqual(known('b', 'a'))
    }
  })

  test('is known if it was moved to another folder or disk, where it has another inode', async () => {
    await writeFile(at('a'), lines(20))
    const [whole, part] = [await loaded('a'), await begun('a', 90)]
    await mkdir(at('archive'))
    await copyFile(at('a'), at('archive/a'))
    await rm(at('a'))
    for (const one of [whole, part])
      expect(await seen([run('1', one)], await find('archive/a'))).toEqual(known('archive/a', 'a'))
  })

  test('is new if it is a copy, and the first file is still there', async () => {
    await writeFile(at('a'), lines(20))
    const first = run('1', await loaded('a'))
    await copyFile(at('a'), at('b'))
    const [a, b] = [await find('a'), await find('b')]
    expect(await seen([first], b)).toEqual({ b: { twin: 'a' } })
    expect(await seen([first], b, a)).toEqual({ ...known('a'), b: { twin: 'a' } })
    expect(await seen([first], a, b)).toEqual({ ...known('a'), b: { twin: 'a' } })
  })

  test('is not mistaken for the first file, which another content has replaced', async () => {
    await writeFile(at('a'), lines(20))
    const first = run('1', await loaded('a'))
    await copyFile(at('a'), at('b'))
    await writeFile(at('a'), lines(20, 500))
    expect(await seen([first], await find('a'), await find('b'))).toEqual({ a: 'new', ...known('b', 'a') })
  })

  test('is known as a hard link, and is one input beside its other name', async () => {
    await writeFile(at('a'), lines(20))
    const first = run('1', await loaded('a'))
    await link(at('a'), at('b'))
    expect(await seen([first], await find('b'))).toEqual(known('b', 'a'))
    const found: string[] = []
    for await (const { name } of findFiles(['a', 'b'], { folder, stdin: false })) found.push(name)
    expect(found).toEqual(['a'])
  })

  test('is known behind a symbolic link, also when the link leads to another file then', async () => {
    await writeFile(at('a'), lines(20))
    await writeFile(at('c'), lines(20, 500))
    await symlink(at('a'), at('current'))
    const first = run('1', await loaded('current'))
    expect(await seen([first], await find('current'))).toEqual(known('current'))
    expect(await seen([first], await find('a'))).toEqual({ a: { known: 'current' } })
    await rm(at('current'))
    await symlink(at('c'), at('current'))
    const now = [await find('current'), await find('a')] as const
    expect(await seen([first], ...now)).toEqual({ current: 'new', a: { known: 'current' } })
  })

  test('is known behind a link to it or to its folder that led to another file meanwhile, also with other times', async () => {
    await mkdir(at('monday'))
    await mkdir(at('tuesday'))
    await writeFile(at('monday/a'), lines(20))
    await writeFile(at('tuesday/a'), lines(20, 500))
    const runs: Checkpoint[] = []
    const lead = async (day: string) => {
      await rm(at('today'), { force: true })
      await symlink(at(day), at('today'))
      await rm(at('a'), { force: true })
      await symlink(at(`${day}/a`), at('a'))
    }
    for (const day of ['monday', 'tuesday']) {
      await lead(day)
      runs.unshift(run(`${runs.length}`, await loaded('today/a')))
    }
    await lead('monday')
    const now = await find('today/a', { mtimeMs: 1 })
    expect(await seen(runs, now)).toEqual(known('today/a'))
    expect(await seen(runs, await find('a', { mtimeMs: 1 }))).toEqual({ a: { known: 'today/a' } })
  })

  test('is not said to be moved if a run kept the path of a link to it', async () => {
    await writeFile(at('a'), lines(20))
    await symlink(at('a'), at('current'))
    const input = await loaded('current')
    const { file } = input
    const before = { ...input, ...(file === undefined ? {} : { file: { ...file, path: at('current') } }) }
    expect(await seen([run('1', before)], await find('current'))).toEqual(known('current'))
  })

  test('is known as a log that was rotated while it grew, and the new log of its name is new', async () => {
    await writeFile(at('app.log'), lines(20))
    for (const one of [await loaded('app.log'), await begun('app.log', 90)]) {
      await writeFile(at('app.log'), lines(20))
      await rename(at('app.log'), at('app.log.1'))
      await appendFile(at('app.log.1'), lines(5, 21))
      await writeFile(at('app.log'), lines(30, 100))
      const [now, rotated] = [await find('app.log'), await find('app.log.1')]
      const expected = { 'app.log': 'new', ...known('app.log.1', 'app.log') }
      expect(await seen([run('1', one)], now, rotated)).toEqual(expected)
      expect(await seen([run('1', one)], rotated, now)).toEqual(expected)
      await rename(at('app.log.1'), at('app.log'))
    }
  })

  test('is known as a log that was copied and emptied, and what follows in the log is new', async () => {
    await writeFile(at('app.log'), lines(20))
    const first = run('1', await loaded('app.log'))
    await copyFile(at('app.log'), at('app.log.1'))
    await truncate(at('app.log'), 0)
    await appendFile(at('app.log'), lines(40, 100))
    expect(await seen([first], await find('app.log'), await find('app.log.1'))).toEqual({
      'app.log': 'new',
      ...known('app.log.1', 'app.log'),
    })
  })

  test('is known if two files have exchanged their names', async () => {
    await writeFile(at('a'), lines(20))
    await writeFile(at('b'), lines(20, 500))
    const first = run('1', await loaded('a'), await loaded('b'))
    await rename(at('a'), at('c'))
    await rename(at('b'), at('a'))
    await rename(at('c'), at('b'))
    expect(await seen([first], await find('a'), await find('b'))).toEqual({ ...known('a', 'b'), ...known('b', 'a') })
  })

  test('is known if many files of the same content have moved, each as one of them', async () => {
    await mkdir(at('archive'))
    const names = Array.from({ length: 40 }, (_, n) => `same-${n}`)
    for (const name of names) await writeFile(at(name), lines(5))
    const inputs = []
    for (const name of names) inputs.push(await loaded(name))
    for (const name of names) {
      await writeFile(at(`archive/${name}`), await readFile(at(name)))
      await rm(at(name))
    }
    // None has the inode of another one that was deleted.
    const sources = await Promise.all(names.map(async (name, n) => await find(`archive/${name}`, { inode: -1 - n })))
    const recognised = await recognise(sources, [run('1', ...inputs)])
    const as = sources.map((_, number) => recognised[number])
    expect(as.map(one => one?.kind)).toEqual(names.map(() => 'known'))
    expect(new Set(as.map(one => (one?.kind === 'known' ? one.known.input.token : ''))).size).toBe(names.length)
    // One more than were loaded is new.
    await writeFile(at('archive/more'), lines(5))
    const all = [...sources, await find('archive/more', { inode: -99 })]
    const kinds = (await recognise(all, [run('1', ...inputs)])).filter(one => one?.kind === 'known')
    expect(kinds).toHaveLength(names.length)
  })

  test('is read once for the comparison with many others of the same length', async () => {
    await mkdir(at('archive'))
    const inputs = []
    for (let n = 100; n < 150; n += 1) {
      await writeFile(at(`${n}`), lines(5, n))
      inputs.push(await loaded(`${n}`))
      await rename(at(`${n}`), at(`archive/${n}`))
    }
    const sources = await Promise.all(
      inputs.map(async ({ name }, n) => await find(`archive/${name}`, { inode: -1 - n })),
    )
    expect(await seen([run('1', ...inputs)], ...sources)).toEqual(
      Object.assign({}, ...inputs.map(({ name }) => known(`archive/${name}`, name))),
    )
    expect(sources.map(({ compared }) => compared)).toEqual(sources.map(() => 1))
  })

  test('is new if it only has the inode of a file that was deleted', async () => {
    await writeFile(at('a'), lines(20))
    const [whole, part] = [await loaded('a'), await begun('a', 90)]
    const { inode } = (await find('a')).stat
    await rm(at('a'))
    for (const content of [lines(20, 500), lines(50, 500), lines(2)]) {
      await writeFile(at('b'), content)
      for (const one of [whole, part])
        expect(await seen([run('1', one)], await find('b', { inode }))).toEqual({ b: 'new' })
    }
  })

  test('is new if it has only the first bytes of a file that is gone', async () => {
    await writeFile(at('a'), lines(20))
    const first = run('1', await loaded('a'))
    await rm(at('a'))
    await writeFile(at('b'), lines(30))
    await writeFile(at('c'), lines(10))
    const [b, c] = [await find('b', { inode: -1 }), await find('c', { inode: -2 })]
    expect(await seen([first], b, c)).toEqual({ b: 'new', c: 'new' })
  })

  test('is new if both are empty', async () => {
    await writeFile(at('a'), '')
    const first = run('1', await loaded('a'))
    await rm(at('a'))
    await writeFile(at('b'), '')
    expect(await seen([first], await find('b', { inode: -1 }))).toEqual({ b: 'new' })
  })
})

describe('inputs that are no files', () => {
  const copyOf = (id: string): Source => ({
    id: 0,
    name: '-',
    copy: { id, of: '-', grows: false },
    open: () => {
      throw new Error('nothing is read')
    },
  })

  test('are known as copies by their ids', async () => {
    const { file: _, ...input } = await (async () => {
      await writeFile(at('a'), lines(1))
      return await loaded('a')
    })()
    const first = run('1', { ...input, name: '-', copy: '1-aaaa' })
    expect(await seen([first], copyOf('1-aaaa'))).toEqual({ '-': { known: '-' } })
    expect(await seen([first], copyOf('1-bbbb'))).toEqual({ '-': 'new' })
  })
})

test('nothing is read if no run is known, and a file that is gone meanwhile is new', async () => {
  await writeFile(at('a'), lines(20))
  const now = await find('a')
  expect(await seen([], now)).toEqual({ a: 'new' })
  expect(now.compared).toBe(0)
  const first = run('1', await loaded('a'))
  const touched = await find('a', { mtimeMs: 1 })
  await rm(dirname(at('a')), { recursive: true })
  expect(await seen([first], touched)).toEqual({ a: 'new' })
  await mkdir(folder)
})
