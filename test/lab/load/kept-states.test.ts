/**
 * The state folders of each released version since 1.0.0-rc.1, as `npm run state` kept them. Each command was killed while a request had no answer, although
 * the cluster had stored its documents. This version continues each, and no document is missing or stored twice.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { appendFile, readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { kinds } from '../../../scripts/release/state/kinds.js'
import { type NamedCluster, nameCluster } from '../../../scripts/release/state/named-cluster.js'
import { type ServeEvent, ingest, serve } from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { knownRuns } from '../../../src/run/state/runs/runs.js'
import { until } from '../../support/eventually.js'
import { type RestoredWorld, restoreWorld, storedNumbers } from '../../support/state/restored.js'

const root = new URL('../../../', import.meta.url).pathname
const states = join(root, 'fixtures', 'states')
const index = 'kept-state'
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)
const lines = (from: number, to: number) =>
  numbers(from, to)
    .map(n => `{"n":${n}}\n`)
    .join('')

let lab: Lab
let named: NamedCluster
beforeEach(async () => {
  lab = await startLab()
  named = await nameCluster(lab)
})
afterEach(async () => {
  await named.close()
  await lab.close()
})

const stored = () => storedNumbers(lab, index)

/** The connection of the library. */
function access() {
  const { apiKey, caFile } = lab.line.cluster
  const target = { url: named.url, apiKey, ca: readFileSync(caFile) }
  return { target, proxy: named.proxy, index, preflightConnections: 1 }
}

/** The run that was killed, and the one that was finished before, if there was one. */
async function runsOf(stateDir: string) {
  const { known, broken } = await knownRuns(stateDir)
  expect(broken).toEqual([])
  const [killed, finished] = ['running', 'finished'].map(
    status => known.find(({ checkpoint }) => checkpoint.status === status)?.checkpoint.run,
  )
  expect(killed).toBeDefined()
  return { killed, finished }
}

test('the state of each kind of work of this version is kept', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  expect(readdirSync(join(states, version)).toSorted()).toEqual(Object.keys(kinds).toSorted())
})

describe.each(readdirSync(states))('the state of %s', version => {
  const restore = async (kind: string): Promise<RestoredWorld> =>
    await restoreWorld(lab, index, join(states, version, kind), named)

  test('of a killed load continues, and a loaded file is known', async () => {
    await using world = await restore('load')
    const all = [...numbers(1, 30), ...numbers(101, 220)]
    const { killed, finished } = await runsOf(join(world.path, 'state'))
    expect(stored().length).toBeLessThan(all.length)
    const letters = await readFile(join(world.path, 'dead.ndjson'), 'utf8')

    const { receipt } = await world.load('orders.ndjson')
    expect(receipt).toMatchObject({ run: killed, status: 'finished', read: 121, rejected: 1 })
    expect(receipt.created + receipt.duplicate).toBe(120)
    expect(receipt.thisProcess.read).toBeLessThan(121)
    expect(receipt.duplicate).toBeGreaterThan(0)
    expect(stored()).toEqual(all)
    expect(await readFile(join(world.path, 'dead.ndjson'), 'utf8')).toBe(letters)

    const { receipt: again } = await world.load('customers.ndjson')
    const inputs = [{ alreadyLoaded: true, loadedBy: { run: finished } }]
    expect(again).toMatchObject({ read: 0, requests: 0, inputs })
    expect(stored()).toEqual(all)
  })

  test('of files that were followed continues with both of them, although they grew and were rotated, and the command runs in another folder', async () => {
    await using world = await restore('follow')
    await runsOf(join(world.path, 'state'))
    expect(stored()).toHaveLength(75)
    const log = join(world.path, 'app.ndjson')
    await appendFile(log, `81}\n${lines(82, 90)}`)
    await rename(`${log}.1`, `${log}.2`)
    await rename(log, `${log}.1`)
    await writeFile(log, lines(91, 100))

    const controller = new AbortController()
    const following = ingest({
      ...access(),
      source: log,
      stateDir: join(world.path, 'state'),
      deadLetters: join(world.path, 'dead.ndjson'),
      follow: true,
      pollMs: 10,
      signal: controller.signal,
    })
    const ended = following.catch((error: unknown) => error)
    await Promise.race([ended, until(() => stored().length >= 100).catch(() => undefined)])
    controller.abort('SIGTERM')
    const receipt = await following
    expect(stored()).toEqual(numbers(1, 100))
    expect(receipt).toMatchObject({ status: 'finished', exit: 0, rejected: 0 })
    expect(receipt.gaps).toBeUndefined()
    expect(receipt.thisProcess.read).toBe(30)
    expect(receipt.duplicate).toBe(5)
  })

  test('of a spool is loaded before the new stdin, and the end that one stdin lacks is reported', async () => {
    await using world = await restore('spool')
    const { killed } = await runsOf(join(world.path, 'state'))
    expect(stored()).toHaveLength(45)
    const args = ['ingest', '-', '--spool', '--index', index, '--dead-letters', 'dead.ndjson']
    const { code, receipt } = await world.run(args, lines(121, 130))
    expect(stored()).toEqual(numbers(1, 130))
    expect({ code, ...receipt }).toMatchObject({ code: 5, run: killed, status: 'interrupted', read: 130, rejected: 0 })
    expect(receipt.failure).toMatchObject({ code: 'RUN_INTERRUPTED', evidence: { reason: 'stdin never ended' } })
    expect(receipt.thisProcess.read).toBe(90)
    expect(receipt.inputs.map(({ name, status }) => [name, status])).toEqual([
      ['-', 'finished'],
      ['- (2)', 'failed'],
      ['- (3)', 'finished'],
    ])
    expect(receipt.duplicate, 'of both kills').toBe(10)
  })

  test('of a receiver is loaded, and requests that it acknowledged are known', async () => {
    await using world = await restore('serve')
    expect(stored()).toHaveLength(20)
    const token = 'a-token-of-the-lab-and-nothing-else'
    const stateDir = join(world.path, 'state')
    await using serving = await serve({ ...access(), stateDir, token, listen: '127.0.0.1:0', batchMs: 10 })
    const post = async (body: string, key: string) => {
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/x-ndjson',
        'idempotency-key': key,
      }
      const { status } = await fetch(serving.url, { method: 'POST', body, headers })
      return status
    }
    expect(await post(lines(1, 10), 'first'), 'a segment that is loaded').toBe(200)
    expect(await post(lines(11, 20), 'second'), 'a segment without an answer').toBe(200)
    expect(await post(lines(21, 23), 'third'), 'a segment that waits').toBe(200)
    expect(await post(lines(24, 30), 'fourth')).toBe(202)
    const receipt = await serving.close()
    expect(stored()).toEqual(numbers(1, 30))
    expect(receipt).toMatchObject({ status: 'finished', accepted: 7, rejected: 0, waiting: { documents: 0 } })
    expect(receipt.duplicate).toBe(10)
  })

  test('of a replay continues, and its dead letters no longer wait', async () => {
    await using world = await restore('replay')
    const { killed, finished } = await runsOf(join(world.path, 'state'))
    expect(stored()).toHaveLength(30)
    const args = ['replay', 'corrected.ndjson', '--dead-letters', 'again.ndjson']
    const { code, receipt } = await world.run(args)
    expect(stored()).toEqual(numbers(1, 39))
    expect({ code, ...receipt }).toMatchObject({ code: 1, run: killed, status: 'finished', read: 30, rejected: 1 })
    expect(receipt.duplicate).toBeGreaterThan(0)
    const letters = (await readFile(join(world.path, 'again.ndjson'), 'utf8')).trimEnd().split('\n')
    expect(letters.map(text => (JSON.parse(text) as { line: string }).line)).toEqual(['n is 40'])

    const { receipt: again } = await world.run(args)
    expect(again).toMatchObject({ read: 0, requests: 0, inputs: [{ alreadyLoaded: true, loadedBy: { run: killed } }] })
    const { receipt: loaded } = await world.load('returns.ndjson')
    expect(loaded).toMatchObject({
      read: 0,
      inputs: [{ alreadyLoaded: true, loadedBy: { run: finished } }],
      unreplayed: [{ documents: 1, deadLetters: join(world.path, 'again.ndjson') }],
    })
    expect(stored()).toEqual(numbers(1, 39))
    expect(await readdir(world.path)).toHaveLength(5)
  })

  test.each([
    ['load', ['ingest', 'orders.ndjson', '--index', index], ''],
    ['follow', ['ingest', 'app.ndjson', '--follow', '--index', index], ''],
    ['spool', ['ingest', '-', '--spool', '--index', index], lines(121, 130)],
    ['replay', ['replay', 'corrected.ndjson'], ''],
  ])(
    'of a newer form stops the command, which loads nothing and keeps all that is there: %s',
    async (kind, args, input) => {
      await using world = await restore(kind)
      const before = stored()
      await makeNewer(world.path)
      const files = await filesIn(world.path)
      const { code, receipt } = await world.run(args, input)
      expect({ code, problem: receipt.failure ?? receipt }).toMatchObject({
        code: 3,
        problem: { code: 'STATE_UNREADABLE' },
      })
      expect(stored()).toEqual(before)
      expect(await filesIn(world.path)).toMatchObject(files)
    },
  )

  test('of a newer form does not stop a receiver: its ids double nothing', async () => {
    await using world = await restore('serve')
    expect(await makeNewer(world.path)).toBe(1)
    const warnings: string[] = []
    const onEvent = (event: ServeEvent) => {
      if (event.type === 'warning') warnings.push(event.message)
    }
    await using serving = await serve({
      ...access(),
      stateDir: join(world.path, 'state'),
      token: false,
      listen: '127.0.0.1:0',
      onEvent,
    })
    await until(() => stored().length >= 23).catch(() => undefined)
    const receipt = await serving.close()
    expect(stored()).toEqual(numbers(1, 23))
    expect(receipt).toMatchObject({ status: 'finished', duplicate: 10, rejected: 0 })
    expect(warnings.join()).toContain('a newer version of Sluice wrote it')
  })
})

/** Changes the states of runs as a newer version would. Returns how many. */
async function makeNewer(path: string): Promise<number> {
  const journals = Object.entries(await filesIn(path)).filter(([, text]) => text.startsWith('{"sluice":2,'))
  for (const [file, text] of journals) await writeFile(file, text.replace('{"sluice":2', '{"sluice":3'))
  return journals.length
}

/** Returns the content of each file below a folder. */
async function filesIn(path: string): Promise<Readonly<Record<string, string>>> {
  const found = await readdir(path, { recursive: true, withFileTypes: true })
  const files = found.filter(one => one.isFile()).map(one => join(one.parentPath, one.name))
  const contents = await Promise.all(files.map(async file => [file, await readFile(file, 'utf8')] as const))
  return Object.fromEntries(contents)
}
