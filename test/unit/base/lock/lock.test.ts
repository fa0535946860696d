import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFile,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../../../support/eventually.js'
import { isSluiceError } from '../../../../src/base/failure/failure.js'
import type { Source } from '../../../../src/base/flow.js'
import { Claims } from '../../../../src/run/state/runs/claims.js'
import { InputLocks } from '../../../../src/base/lock/lock.js'
import { lockCheckpoint, lockInputs } from '../../../../src/run/state/runs/state-folder.js'
import { type Holder, lookAtProcess } from '../../../../src/base/lock/lock-holder.js'
import { findSources } from '../../../../src/pipeline/source/open-sources.js'
import { type Answer, lockChild } from '../../../support/state/lock-child.js'
import { rounds } from '../../../support/rounds.js'

let work: string
let state: string
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'lock-'))
  state = join(work, 'state')
  for (const name of ['a', 'b', 'c']) await writeFile(path(name), '{}\n')
})
afterEach(async () => await rm(work, { recursive: true }))

const path = (name: string) => join(work, `${name}.ndjson`)
const locksFolder = () => join(state, 'locks')

interface More {
  readonly index?: string
  readonly cluster?: string
  readonly stateDir?: string
}

async function take(names: readonly string[], more: More = {}): Promise<InputLocks> {
  const paths = names.map(name => (name.includes('*') ? join(work, name) : path(name)))
  const sources = paths.length === 0 ? [] : await findSources(paths, {})
  return await lockInputs({ stateDir: state, cluster: 'https://es.example', index: 'logs', ...more, sources })
}

/** The failure, or `{}` where the locks were taken; they are given back. */
async function tryTake(names: readonly string[], more: More = {}): Promise<Answer> {
  try {
    await using locks = await take(names, more)
    await locks.name('tried')
    return {}
  } catch (error) {
    if (isSluiceError(error)) return error.failure
    throw error
  }
}

/** The one file of this kind that there is. */
async function onlyFile(ending: '.claims' | '.holder' | '.lock'): Promise<string> {
  const names = (await readdir(locksFolder())).filter(name => name.endsWith(ending))
  expect(names).toHaveLength(1)
  return join(locksFolder(), names[0] ?? '')
}

const claimsFile = async () => await onlyFile('.claims')
const leftId = '0123456789abcdef'
const left = (kind: 'holder' | 'claims') => join(locksFolder(), `${leftId}.${kind}`)

type Change = (holder: Holder) => Partial<Record<keyof Holder, unknown>>

/** A claim of `a` as a process leaves it that did not release it, changed as the test likes. Returns the path of the claims. */
async function leave(change: Change): Promise<string> {
  const locks = await take(['a'])
  const holder = await readHolder(await onlyFile('.holder'))
  const claims = await readFile(await claimsFile())
  await locks[Symbol.asyncDispose]()
  await writeFile(left('holder'), JSON.stringify({ ...holder, id: leftId, ...change(holder) }))
  await writeFile(left('claims'), claims)
  return left('claims')
}

/** The same for the lock of a run's file. */
async function leaveLock(change: Change): Promise<string> {
  const locks = await take(['a'])
  await lockCheckpoint(locks, run)
  const lock = await onlyFile('.lock')
  const holder = await readHolder(lock)
  await locks[Symbol.asyncDispose]()
  await writeFile(lock, JSON.stringify({ ...holder, id: leftId, ...change(holder) }))
  return lock
}

async function readHolder(file: string): Promise<Holder> {
  return JSON.parse(await readFile(file, 'utf8')) as Holder
}

const run = { path: '/state/runs/one.jsonl', input: 'a', index: 'logs' }

async function tryLock(): Promise<Answer> {
  try {
    await using locks = await take([])
    await lockCheckpoint(locks, run)
    return {}
  } catch (error) {
    if (isSluiceError(error)) return error.failure
    throw error
  }
}

/** A process that has ended. */
async function endedPid(): Promise<number> {
  const child = spawn('true')
  await once(child, 'exit')
  return child.pid ?? 0
}

describe('two runs', () => {
  test('do not have the same input at once: the second learns who has it', async () => {
    await using other = await lockChild(state, 'logs', [path('a')])
    const before = Date.now()
    expect(await other.ask('take')).toEqual({})
    const after = Date.now()
    const refused = await tryTake(['a'])
    expect(refused).toMatchObject({
      code: 'RUN_LOCKED',
      evidence: { input: path('a'), index: 'logs', run: `run-of-${other.pid}`, pid: other.pid, host: hostname() },
    })
    const { since, lock } = refused.evidence ?? {}
    expect(Date.parse(String(since))).toBeGreaterThanOrEqual(before)
    expect(Date.parse(String(since))).toBeLessThanOrEqual(after)
    expect(lock).toBe(await claimsFile())
    await other.ask('release')
    expect(await tryTake(['a'])).toEqual({})
    expect(await readdir(locksFolder())).toEqual([])
  })

  test('of one process are kept apart as well', async () => {
    await using _ = await take(['a'])
    expect(await tryTake(['a'])).toMatchObject({ code: 'RUN_LOCKED', evidence: { pid: process.pid } })
  })

  test('meet in one common input, by whatever name, and the second then has none', async () => {
    await symlink(path('b'), path('d'))
    await using _ = await take(['*b.ndjson', 'c'])
    for (const names of [['b'], ['a', 'b'], ['d'], ['*.ndjson'], ['a', 'c']])
      expect({ names, code: (await tryTake(names)).code }).toEqual({ names, code: 'RUN_LOCKED' })
    expect(await tryTake(['a'])).toEqual({})
  })

  test('with another input, index or cluster do not meet', async () => {
    await using _ = await take(['a'])
    expect(await tryTake(['b'])).toEqual({})
    expect(await tryTake(['a'], { index: 'others' })).toEqual({})
    expect(await tryTake(['a'], { cluster: 'https://other.example' })).toEqual({})
  })

  test('with inputs of their own do not meet', async () => {
    const sources = await findSources(Readable.from(['{}\n'], { objectMode: false }), {})
    const locking = { stateDir: state, cluster: 'https://es.example', index: 'logs', sources }
    await using _ = await lockInputs(locking)
    await using __ = await lockInputs(locking)
    expect((await readdir(locksFolder())).filter(name => name.endsWith('.claims'))).toEqual([])
  })

  test('meet in a table of one instance', async () => {
    const table = (instance: string) => ({
      stateDir: state,
      cluster: 'https://es.example',
      index: 'logs',
      sources: [{ id: 0, name: 'incident', cursor: {}, open: () => [] } as unknown as Source],
      instance,
    })
    await using _ = await lockInputs(table('https://one.example'))
    await using __ = await lockInputs(table('https://two.example'))
    await expect(lockInputs(table('https://one.example'))).rejects.toMatchObject({
      failure: { code: 'RUN_LOCKED', evidence: { input: 'incident' } },
    })
  })

  test('meet in a folder of stdin, whatever the index', async () => {
    const stdin = (index: string) => ({
      stateDir: state,
      cluster: '',
      index,
      sources: [],
      folder: join(state, 'spool'),
    })
    await using _ = await lockInputs(stdin('logs'))
    await expect(lockInputs(stdin('others'))).rejects.toMatchObject({
      failure: { code: 'RUN_LOCKED', evidence: { input: '-' } },
    })
  })

  test('meet in a hard link, and in the path of a file that was replaced since', async () => {
    await link(path('a'), path('d'))
    await using _ = await take(['a', 'b'])
    expect(await tryTake(['d'])).toMatchObject({ code: 'RUN_LOCKED', evidence: { input: path('d') } })
    await rename(path('c'), path('b'))
    expect(await tryTake(['b'])).toMatchObject({ code: 'RUN_LOCKED' })
  })

  test('on two machines meet in a path, also through a link to its folder, but not in the number of a file', async () => {
    await leave(() => ({ host: 'other', boot: 'other' }))
    await link(path('a'), path('d'))
    await symlink(work, join(work, 'link'))
    expect(await tryTake(['link/a'])).toMatchObject({ code: 'RUN_LOCKED', evidence: { host: 'other' } })
    expect(await tryTake(['d'])).toEqual({})
  })
})

test('two names of one file in one run are one claim', async () => {
  await symlink(path('a'), path('d'))
  await using _ = await take(['a', 'd'])
  expect((await readFile(await claimsFile(), 'utf8')).trim().split('\n')).toMatchObject([
    expect.anything(),
    expect.stringContaining('"names":["a.ndjson"]') as string,
  ])
})

test('locks and claims are for their owner alone', async () => {
  await using locks = await take(['a'])
  await lockCheckpoint(locks, run)
  const files = [locksFolder(), await claimsFile(), await onlyFile('.lock')]
  const modes = await Promise.all(files.map(async one => (await stat(one)).mode & 0o777))
  expect(modes).toEqual([0o700, 0o600, 0o600])
})

test('a folder that cannot be made is named', async () => {
  await mkdir(state)
  await writeFile(locksFolder(), '')
  expect(await tryTake(['a'])).toMatchObject({ code: 'STATE_UNWRITABLE' })
})

describe('the lock of a dead process is taken over', () => {
  test('when it was killed, with all its claims, and nothing stays behind', async () => {
    await using other = await lockChild(state, 'logs', ['a', 'b', 'c'].map(path))
    await other.ask('take')
    await other.kill()
    for (const names of [['a'], ['b', 'c']]) expect(await tryTake(names)).toEqual({})
    expect(await readdir(locksFolder())).toEqual([])
  })

  test('if its process number is free, or belongs to another process', async () => {
    const pid = await endedPid()
    for (const [leaving, trying] of ways) {
      await leaving(() => ({ pid }))
      expect(await trying()).toEqual({})
      await leaving(({ started }) => ({ started: `${started}0` }))
      expect(await trying()).toEqual({})
      expect(await readdir(locksFolder())).toEqual([])
    }
  })

  test('when the machine was started anew since', async () => {
    // A machine without an id of its own cannot be told from another one.
    const machine = await readFile('/etc/machine-id', 'utf8').catch(() => '')
    const expected = machine.trim() === '' ? { code: 'RUN_LOCKED' } : {}
    for (const [leaving, trying] of ways) {
      await leaving(() => ({ boot: '2f0e8c54-0000-4000-8000-000000000000' }))
      expect(await trying()).toMatchObject(expected)
    }
  })

  test('when its process was one of another container, and is seen to be gone', async () => {
    await using other = await lockChild(state, 'logs', ['a', 'b'].map(path))
    await other.ask('take')
    const record = await onlyFile('.holder')
    const elsewhere = { host: 'other-container', pidSpace: 'pid:[1]', pid: await endedPid() }
    await writeFile(record, JSON.stringify({ ...(await readHolder(record)), ...elsewhere }))
    await link(record, join(locksFolder(), 'one.lock'))
    for (const trying of [async () => await tryTake(['a']), tryLock])
      expect(await trying()).toMatchObject({ code: 'RUN_LOCKED', evidence: { host: 'other-container' } })
    await other.kill()
    expect(await tryLock()).toEqual({})
    expect(await tryTake(['a'])).toEqual({})
    expect(await tryTake(['b'])).toEqual({})
    expect(await readdir(locksFolder())).toEqual([])
  })

  test('when who took it over was killed too, in the middle of it', async () => {
    const pid = await endedPid()
    const file = await leaveLock(() => ({ pid }))
    const right = JSON.stringify({ ...(await readHolder(file)), id: 'fedcba9876543210' })
    await writeFile(`${file}.${leftId}`, right)
    expect(await tryLock()).toEqual({})
    expect(await readdir(locksFolder())).toEqual([])
  })

  test('when it was killed while it wrote its claims', async () => {
    const pid = await endedPid()
    await leave(() => ({ pid }))
    await writeFile(left('claims'), '{"cluster":')
    await link(left('holder'), join(locksFolder(), 'claims.lock'))
    expect(await tryTake(['a'])).toEqual({})
    expect(await readdir(locksFolder())).toEqual([])
  })

  test('also where the path is too long for a sign', async () => {
    const stateDir = join(state, 'x'.repeat(120))
    await using other = await lockChild(stateDir, 'logs', [path('a')])
    await other.ask('take')
    expect(await tryTake(['a'], { stateDir })).toMatchObject({ code: 'RUN_LOCKED' })
    await other.kill()
    expect(await tryTake(['a'], { stateDir })).toEqual({})
    expect(await readdir(join(stateDir, 'locks'))).toEqual([])
  })
})

/** Two ways to be kept out: claims of an input, and the lock of a run's file. */
const ways = [
  [leave, async () => await tryTake(['a'])],
  [leaveLock, tryLock],
] as const

describe('the lock of a process stays', () => {
  const unknown: readonly [string, (holder: Holder, pid: number) => Partial<Record<keyof Holder, unknown>>][] = [
    ['its process runs', () => ({})],
    ['its process runs, since an unknown time', () => ({ started: undefined })],
    ['it is of another machine', (_, pid) => ({ pid, host: 'other', boot: 'other' })],
    ['it is of another machine that tells less', (_, pid) => ({ pid, host: 'other', boot: undefined })],
    ['it is of another machine with the same name', (_, pid) => ({ pid, machine: 'other', boot: 'other' })],
    [
      'it is of a machine that tells less, with the same name',
      (_, pid) => ({ pid, machine: undefined, boot: 'other' }),
    ],
    ['it is of another container', (_, pid) => ({ pid, host: 'other' })],
    ['it is of another container with the same name', (_, pid) => ({ pid, pidSpace: 'pid:[1]' })],
    ['it tells of no process', () => ({ pid: 0 })],
    ['it tells of no holder', () => ({ id: undefined })],
  ]
  test.each(unknown)('when %s', async (_, change) => {
    const pid = await endedPid()
    for (const [leaving, trying] of ways) {
      const file = await leaving(holder => change(holder, pid))
      expect(await trying()).toMatchObject({ code: 'RUN_LOCKED', evidence: { lock: file } })
      // By hand, as the advice says.
      await rm(file)
      expect(await trying()).toEqual({})
    }
  })

  test.each(['', 'null', '{"id":'])('when its holder says %j', async text => {
    for (const [leaving, trying] of ways) {
      const file = await leaving(() => ({}))
      await writeFile(file.replace('.claims', '.holder'), text)
      expect(await trying()).toMatchObject({ code: 'RUN_LOCKED', evidence: { host: 'an unknown host', lock: file } })
      await rm(file)
    }
  })

  test.each(['', 'null\n', '{"cluster":', '{"cluster":"https://es.example","index":"logs","tables":[]}\n{"folder'])(
    'when its claims say %j: they may name any input',
    async text => {
      const file = await leave(() => ({}))
      await writeFile(file, text)
      expect(await tryTake(['b'])).toMatchObject({ code: 'RUN_LOCKED', evidence: { lock: file } })
    },
  )

  test('when its record is gone', async () => {
    const file = await leave(() => ({}))
    await rm(left('holder'))
    expect(await tryTake(['a'])).toMatchObject({
      code: 'RUN_LOCKED',
      evidence: { host: 'an unknown host', lock: file },
    })
    expect(await tryTake(['b'])).toEqual({})
  })

  test('when the folder is of another file system than its holder’s, whose sign is not seen from here', async () => {
    await using other = await lockChild(state, 'logs', [path('a')])
    await other.ask('take')
    const record = await onlyFile('.holder')
    await writeFile(record, JSON.stringify({ ...(await readHolder(record)), pidSpace: 'pid:[1]', device: '1' }))
    await link(record, join(locksFolder(), 'one.lock'))
    await other.kill()
    expect(await tryTake(['a'])).toMatchObject({ code: 'RUN_LOCKED' })
    expect(await tryLock()).toMatchObject({ code: 'RUN_LOCKED' })
  })

  test('when another one is about to take it over', { tags: 'long' }, async () => {
    const pid = await endedPid()
    const file = await leaveLock(() => ({ pid }))
    await using other = await lockChild(state, 'others', [path('a')])
    await other.ask('take')
    // The child removed the dead lock when it began.
    await leaveLock(() => ({ pid }))
    await link(await recordOf(other.pid), `${file}.${leftId}`)
    expect(await tryLock()).toMatchObject({ code: 'RUN_LOCKED', evidence: { pid: other.pid } })
  })
})

async function recordOf(pid: number): Promise<string> {
  for (const name of await readdir(locksFolder())) {
    const file = join(locksFolder(), name)
    if (name.endsWith('.holder') && (await readHolder(file)).pid === pid) return file
  }
  throw new Error('no such process')
}

describe('a process that claims', () => {
  test(
    'waits for another one that claims at the same time, and ends when that takes too long',
    { tags: 'long' },
    async () => {
      await using other = await lockChild(state, 'others', [path('a')])
      await other.ask('take')
      const lock = join(locksFolder(), 'claims.lock')
      await link(await recordOf(other.pid), lock)
      let now = 0
      const clock = { now: () => now, sleep: async (ms: number) => void (now += await Promise.resolve(ms)) }
      const claims = await Claims.of({ cluster: 'c', index: 'i', sources: await findSources(path('b'), {}) })
      await using locks = await InputLocks.open(locksFolder())
      expect(await locks.claim(claims, clock, () => 0.5)).toMatchObject({
        holder: { pid: other.pid },
        input: path('b'),
        lock,
      })
      expect(now).toBeGreaterThan(29_000)
      const released = {
        ...clock,
        sleep: async (ms: number) => (await clock.sleep(ms), await rm(lock, { force: true })),
      }
      expect(await locks.claim(claims, released, () => 0.5)).toBeUndefined()
    },
  )

  test('of which another one waits is not waited for when it is killed', async () => {
    await using other = await lockChild(state, 'others', [path('a')])
    await other.ask('take')
    await link(await recordOf(other.pid), join(locksFolder(), 'claims.lock'))
    const waiting = tryTake(['a'])
    await other.kill()
    expect(await waiting).toEqual({})
    expect(await readdir(locksFolder())).toEqual([])
  })
})

describe('a process that begins removes', () => {
  const old = new Date(Date.now() - 2 * 3_600_000)

  test('a record that was never written, after an hour', async () => {
    await mkdir(locksFolder(), { recursive: true })
    await writeFile(left('holder'), '')
    expect(await tryTake(['b'])).toEqual({})
    expect(await readdir(locksFolder())).toEqual([`${leftId}.holder`])
    await utimes(left('holder'), old, old)
    expect(await tryTake(['b'])).toEqual({})
    expect(await readdir(locksFolder())).toEqual([])
  })

  test('locks, rights and sockets of dead processes, for every name', async () => {
    const pid = await endedPid()
    const lock = await leaveLock(() => ({ pid }))
    await copyFile(lock, `${lock}.aaaaaaaaaaaaaaaa`)
    await copyFile(lock, join(locksFolder(), 'input-of-old.lock'))
    await using other = await lockChild(state, 'logs', [path('a')])
    await other.ask('take')
    await rm(await recordOf(other.pid))
    await rm(await claimsFile())
    await other.kill()
    expect((await readdir(locksFolder())).filter(name => name.endsWith('.sock'))).toHaveLength(1)
    expect(await tryTake(['b'])).toEqual({})
    expect(await readdir(locksFolder())).toEqual([])
  })

  test('no files of other programs', async () => {
    await mkdir(locksFolder(), { recursive: true })
    const names = ['big.lock', 'small.lock', 'note.holder', 'dir.lock']
    await writeFile(join(locksFolder(), 'big.lock'), 'x'.repeat(5000))
    await writeFile(join(locksFolder(), 'small.lock'), '1234\n')
    await writeFile(join(locksFolder(), 'note.holder'), '{}')
    await mkdir(join(locksFolder(), 'dir.lock'))
    expect(await tryTake(['b'])).toEqual({})
    expect((await readdir(locksFolder())).toSorted()).toEqual(names.toSorted())
  })
})

test('claims that were removed by hand, and made by another, are not removed by the first', async () => {
  const first = await take(['a'])
  await rm(await claimsFile())
  await using second = await take(['a'])
  await first[Symbol.asyncDispose]()
  expect(await tryTake(['a'])).toMatchObject({ code: 'RUN_LOCKED' })
  await second.name('second')
  expect(await readHolder(await onlyFile('.holder'))).toMatchObject({ run: 'second', pid: process.pid })
})

test('a lock that was removed by hand and taken by another is not removed by the first', async () => {
  const first = await take(['a'])
  await lockCheckpoint(first, run)
  await rm(await onlyFile('.lock'))
  await using second = await take(['b'])
  await lockCheckpoint(second, run)
  await first[Symbol.asyncDispose]()
  expect(await tryLock()).toMatchObject({ code: 'RUN_LOCKED' })
  await second.name('second')
  expect(await readHolder(await onlyFile('.lock'))).toMatchObject({ run: 'second', pid: process.pid })
})

describe('of many that want the lock of a killed process', () => {
  test(
    'one gets it: runs of one process, each as far as it comes before the next one goes on',
    { tags: 'long' },
    async () => {
      const pid = await endedPid()
      for (let round = 0; round < rounds(2, 10); round += 1) {
        await leave(() => ({ pid }))
        const all = await Promise.allSettled(Array.from({ length: 20 }, async () => await take(['a'])))
        const taken = all.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
        expect(taken).toHaveLength(1)
        await taken[0]?.[Symbol.asyncDispose]()
        expect(await readdir(locksFolder())).toEqual([])
      }
    },
  )

  test('one gets the lock of a run: runs of one process', { tags: 'long' }, async () => {
    const pid = await endedPid()
    for (let round = 0; round < rounds(2, 10); round += 1) {
      await leaveLock(() => ({ pid }))
      const all = await Promise.all(Array.from({ length: 20 }, async () => await take([])))
      const taken = await Promise.allSettled(all.map(async locks => await lockCheckpoint(locks, run)))
      expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      for (const locks of all) await locks[Symbol.asyncDispose]()
      expect(await readdir(locksFolder())).toEqual([])
    }
  })
})

test('very many claims are one file, and meet in one', async () => {
  const many = rounds(5000, 100_000)
  const source = (n: number): Source =>
    ({
      id: n,
      name: `folder-${n % 10}/${n}.ndjson`,
      file: { folder: work, device: 1, stat: { inode: n + 1 } },
    }) as unknown as Source
  const from = (start: number, count: number) => ({
    stateDir: state,
    cluster: 'https://es.example',
    index: 'logs',
    sources: Array.from({ length: count }, (_, n) => source(start + n)),
  })
  await using _ = await lockInputs(from(0, many))
  await using __ = await lockInputs(from(many, many))
  expect((await readdir(locksFolder())).length).toBe(6)
  expect((await readdir(locksFolder())).filter(name => name.endsWith('.claims'))).toHaveLength(2)
  await expect(lockInputs(from(2 * many - 1, many / 2))).rejects.toMatchObject({
    failure: { code: 'RUN_LOCKED', evidence: { input: `folder-9/${2 * many - 1}.ndjson` } },
  })
})

describe('a process', () => {
  test('is there since an instant that stays the same', async () => {
    const seen = await lookAtProcess(process.pid)
    expect(seen).toEqual({ isThere: true, started: expect.any(String) as string })
    expect(await lookAtProcess(process.pid)).toEqual(seen)
  })

  test('is told apart from the next one where the system has no /proc', async () => {
    const seen = await lookAtProcess(process.pid, work)
    expect(Number.isNaN(Date.parse(seen.started ?? ''))).toBe(false)
  })

  test('that has ended is not there, whether or not its parent has noticed', async () => {
    expect(await lookAtProcess(await endedPid())).toEqual({ isThere: false })
    const parent = spawn('/bin/sh', ['-c', 'true & echo $!; exec sleep 60'])
    try {
      const [text] = (await once(parent.stdout, 'data')) as [Buffer]
      await eventually(async () => expect(await lookAtProcess(Number(String(text)))).toEqual({ isThere: false }))
    } finally {
      parent.kill('SIGKILL')
    }
  })
})
