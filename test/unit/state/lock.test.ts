import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { isSluiceError } from '../../../src/failure/sluice-error.js'
import type { InputLocks } from '../../../src/state/lock.js'
import { lockInputs } from '../../../src/state/run-locks.js'
import type { Holder } from '../../../src/state/lock-holder.js'
import { lookAtProcess } from '../../../src/state/lock-holder.js'
import { findSources } from '../../../src/source/open-sources.js'
import { type Answer, lockChild } from '../../support/lock-child.js'

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
  const sources = await findSources(
    names.map(name => (name.includes('*') ? join(work, name) : path(name))),
    {},
  )
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

/** The one lock that there is. */
async function lockFile(): Promise<string> {
  const names = (await readdir(locksFolder())).filter(name => name.endsWith('.lock'))
  expect(names).toHaveLength(1)
  return join(locksFolder(), names[0] ?? '')
}

/** A lock on `a` as a process leaves it that did not release it, changed as the test likes. */
async function leave(change: (holder: Holder) => Partial<Record<keyof Holder, unknown>>): Promise<string> {
  const locks = await take(['a'])
  const file = await lockFile()
  const holder = JSON.parse(await readFile(file, 'utf8')) as Holder
  await locks[Symbol.asyncDispose]()
  await writeFile(file, JSON.stringify({ ...holder, id: '0123456789abcdef', ...change(holder) }))
  return file
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
    expect(lock).toBe(await lockFile())
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

  test('that read what nobody else can read do not meet', async () => {
    const sources = await findSources(Readable.from(['{}\n'], { objectMode: false }), {})
    const locking = { stateDir: state, cluster: 'https://es.example', index: 'logs', sources }
    await using _ = await lockInputs(locking)
    await using __ = await lockInputs(locking)
    expect((await readdir(locksFolder())).filter(name => name.endsWith('.lock'))).toEqual([])
  })
})

test('two names of one file in one run are one lock', async () => {
  await symlink(path('a'), path('d'))
  await using _ = await take(['a', 'd'])
  await lockFile()
})

test('locks are for their owner alone', async () => {
  await using _ = await take(['a'])
  const modes = await Promise.all([locksFolder(), await lockFile()].map(async one => (await stat(one)).mode & 0o777))
  expect(modes).toEqual([0o700, 0o600])
})

test('a folder that cannot be made is named', async () => {
  await mkdir(state)
  await writeFile(locksFolder(), '')
  expect(await tryTake(['a'])).toMatchObject({ code: 'STATE_UNWRITABLE' })
})

describe('a lock is taken over', () => {
  test('when its process was killed, with all the others that it left, and nothing stays behind', async () => {
    await using other = await lockChild(state, 'logs', ['a', 'b', 'c'].map(path))
    await other.ask('take')
    await other.kill()
    for (const names of [['a'], ['b', 'c']]) expect(await tryTake(names)).toEqual({})
    expect(await readdir(locksFolder())).toEqual([])
  })

  test('when its process number belongs to nobody, or to another process', async () => {
    const pid = await endedPid()
    await leave(() => ({ pid }))
    expect(await tryTake(['a'])).toEqual({})
    await leave(({ started }) => ({ started: `${started}0` }))
    expect(await tryTake(['a'])).toEqual({})
  })

  test('when the machine was started anew since', async () => {
    await leave(() => ({ boot: '2f0e8c54-0000-4000-8000-000000000000' }))
    // A machine without an id of its own cannot be told from another one.
    const machine = await readFile('/etc/machine-id', 'utf8').catch(() => '')
    expect(await tryTake(['a'])).toMatchObject(machine.trim() === '' ? { code: 'RUN_LOCKED' } : {})
  })

  test('when its process was one of another container, and is seen to be gone', async () => {
    await using other = await lockChild(state, 'logs', ['a', 'b'].map(path))
    await other.ask('take')
    const [name = ''] = (await readdir(locksFolder())).filter(one => one.endsWith('.lock'))
    const holder = JSON.parse(await readFile(join(locksFolder(), name), 'utf8')) as Holder
    // All its locks are names of this one file.
    const elsewhere = { ...holder, host: 'other-container', pidSpace: 'pid:[1]', pid: await endedPid() }
    await writeFile(join(locksFolder(), name), JSON.stringify(elsewhere))
    expect(await tryTake(['a'])).toMatchObject({ code: 'RUN_LOCKED', evidence: { host: 'other-container' } })
    await other.kill()
    expect(await tryTake(['a'])).toEqual({})
    expect(await tryTake(['b'])).toEqual({})
    expect(await readdir(locksFolder())).toEqual([])
  })

  test('when who took it over was killed too, in the middle of it', async () => {
    const pid = await endedPid()
    const file = await leave(() => ({ pid }))
    const right = JSON.stringify({ ...(JSON.parse(await readFile(file, 'utf8')) as Holder), id: 'fedcba9876543210' })
    await writeFile(`${file}.0123456789abcdef`, right)
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
  })
})

describe('a lock is left alone', () => {
  const unknown: readonly [string, (holder: Holder, pid: number) => Partial<Record<keyof Holder, unknown>>][] = [
    ['its process runs', () => ({})],
    ['its process runs, and nobody knows since when', () => ({ started: undefined })],
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
    const file = await leave(holder => change(holder, pid))
    expect(await tryTake(['a'])).toMatchObject({ code: 'RUN_LOCKED', evidence: { lock: file } })
    // By hand, as the advice says.
    await rm(file)
    expect(await tryTake(['a'])).toEqual({})
  })

  test.each(['', 'null', '{"id":'])('when it says %j', async text => {
    const file = await leave(() => ({}))
    await writeFile(file, text)
    expect(await tryTake(['a'])).toMatchObject({ code: 'RUN_LOCKED', evidence: { host: 'an unknown host' } })
  })

  test('when the folder is of another file system than its holder’s, whose sign is not seen from here', async () => {
    await using other = await lockChild(state, 'logs', [path('a')])
    await other.ask('take')
    const file = await lockFile()
    const holder = JSON.parse(await readFile(file, 'utf8')) as Holder
    await writeFile(file, JSON.stringify({ ...holder, pidSpace: 'pid:[1]', device: '1' }))
    await other.kill()
    expect(await tryTake(['a'])).toMatchObject({ code: 'RUN_LOCKED' })
  })

  test('when another one is about to take it over', async () => {
    const pid = await endedPid()
    const file = await leave(() => ({ pid }))
    await using other = await lockChild(state, 'others', [path('a')])
    await other.ask('take')
    const [mine = ''] = (await readdir(locksFolder())).filter(name => !file.includes(name) && name.endsWith('.lock'))
    await writeFile(`${file}.0123456789abcdef`, await readFile(join(locksFolder(), mine)))
    expect(await tryTake(['a'])).toMatchObject({ code: 'RUN_LOCKED', evidence: { pid: other.pid } })
  })
})

test('a lock that was removed by hand and taken by another is not removed by the first', async () => {
  const first = await take(['a'])
  await rm(await lockFile())
  await using second = await take(['a'])
  await first[Symbol.asyncDispose]()
  expect(await tryTake(['a'])).toMatchObject({ code: 'RUN_LOCKED' })
  await second.name('second')
  expect(JSON.parse(await readFile(await lockFile(), 'utf8'))).toMatchObject({ run: 'second', pid: process.pid })
})

describe('of many that want the lock of a killed process', () => {
  test('one gets it: processes', async () => {
    const children = await Promise.all(
      Array.from({ length: 5 }, async () => await lockChild(state, 'logs', [path('a')])),
    )
    await using _ = { [Symbol.asyncDispose]: async () => void (await Promise.all(children.map(child => child.kill()))) }
    let alive = children
    while (alive.length > 0) {
      const answers = await Promise.all(alive.map(async child => ({ child, answer: await child.ask('take') })))
      const winners = answers.filter(({ answer }) => answer.code === undefined)
      expect(winners).toHaveLength(1)
      const refused = answers.filter(({ answer }) => answer.code !== undefined)
      expect(refused.map(({ answer }) => answer.code)).toEqual(refused.map(() => 'RUN_LOCKED'))
      await winners[0]?.child.kill()
      alive = refused.map(({ child }) => child)
    }
  })

  test('one gets it: runs of one process, each as far as it comes before the next one goes on', async () => {
    const pid = await endedPid()
    for (let round = 0; round < 20; round += 1) {
      await leave(() => ({ pid }))
      const all = await Promise.allSettled(Array.from({ length: 20 }, async () => await take(['a'])))
      const taken = all.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
      expect(taken).toHaveLength(1)
      await taken[0]?.[Symbol.asyncDispose]()
      expect(await readdir(locksFolder())).toEqual([])
    }
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
