// @module-tag long
/** Guarded loads that are interrupted, repeated, raced and cut off from answers: the alias leads to a whole index, or stays. */
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { rounds } from '../../support/rounds.js'
import { eventually, until } from '../../support/eventually.js'
import {
  type IngestEvent,
  type IngestOptions,
  type Receipt,
  connect,
  ingest,
  isSluiceError,
  replay,
  rollback,
} from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { newIndex } from '../../contracts/options.js'
import { behind, indicesOf, wayInto } from '../../support/lab/guarded-world.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

let work: string
let alias: string
/** Where the alias is when a test begins. */
let old: string
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'swap-'))
  alias = newIndex('swap')
  const settings = { refresh_interval: '9s', number_of_replicas: 2 }
  const indexBody = { settings, mappings: { properties: { n: { type: 'long' } } } }
  old = (await ingest({ ...wayInto(lab), source: new Set([{ n: 0 }]), swapAlias: alias, indexBody })).alias?.to ?? ''
})
afterEach(async () => {
  lab.control.heal()
  lab.control.register('both')
  await rm(work, { recursive: true })
})

const lines = (count: number, from = 1) => Array.from({ length: count }, (_, at) => `{"n":${from + at}}\n`).join('')
const path = (name: string) => join(work, name)

type More = Partial<IngestOptions>

async function load(source: IngestOptions['source'], more: More = {}): Promise<Receipt> {
  return await ingest({
    ...wayInto(lab),
    source,
    swapAlias: alias,
    stateDir: path('state'),
    deadLetters: path('dead.ndjson'),
    batchDocs: 10,
    concurrency: 2,
    ...more,
  })
}

/** The same, aborted once so many documents were booked. */
async function interrupted(source: IngestOptions['source'], after: number, more: More = {}): Promise<Receipt> {
  const controller = new AbortController()
  const onEvent = (event: IngestEvent) => {
    if (event.type === 'progress' && event.counts.created >= after) controller.abort('test')
  }
  const failed = await failureOf(load(source, { ...more, signal: controller.signal, onEvent }))
  expect(failed.text).toMatch(/^RUN_INTERRUPTED/)
  return failed.receipt as Receipt
}

async function failureOf(run: Promise<unknown>): Promise<{ text: string; receipt: unknown }> {
  try {
    await run
  } catch (error) {
    if (isSluiceError(error)) return { text: `${error.code}: ${error.message}`, receipt: error.receipt }
    throw error
  }
  return { text: 'no failure', receipt: undefined }
}

async function warningsOf(run: (onEvent: IngestOptions['onEvent']) => Promise<unknown>): Promise<string[]> {
  const warnings: string[] = []
  await run(event => {
    if (event.type === 'warning' && !event.message.includes('yellow')) warnings.push(event.message)
  })
  return warnings
}

const freshOnes = async () => (await indicesOf(lab, `${alias}-*`)).filter(({ name }) => name !== old)

/** The alias leads to one fresh index with so many documents, and with the settings of the one before. */
async function expectSwitched({ run, alias: switched }: Receipt, documents: number): Promise<string> {
  const to = switched?.to ?? ''
  expect(switched).toMatchObject({ name: alias, switched: true })
  expect(await behind(lab, alias)).toBe(to)
  const mark = { run, alias, previous: switched?.from }
  expect(await indicesOf(lab, to)).toEqual([{ name: to, refreshInterval: '9s', replicas: '2', mark }])
  expect(lab.control.count(to)).toBe(documents)
  return to
}

describe('an interrupted guarded load', () => {
  test('goes on in the same index, and switches the alias when it is through', async () => {
    await writeFile(path('a.ndjson'), lines(300))
    const first = await interrupted(path('a.ndjson'), 50)
    expect(first.alias).toMatchObject({ from: old, switched: false })
    expect(await behind(lab, alias)).toBe(old)
    expect(await freshOnes()).toMatchObject([{ name: first.alias?.to, refreshInterval: '-1', replicas: '0' }])
    const second = await load(path('a.ndjson'))
    expect(second).toMatchObject({ run: first.run, read: 300, alias: { ...first.alias, switched: true } })
    await expectSwitched(second, 300)
    expect(lab.control.count(old)).toBe(1)
  })

  test('gives up what it has where an input changed or is gone, and says where that is', async () => {
    await writeFile(path('a.ndjson'), lines(20))
    await writeFile(path('b.ndjson'), lines(300))
    const glob = path('*.ndjson')
    const changes: [() => Promise<void>, number][] = [
      [async () => await writeFile(path('a.ndjson'), lines(15, 7)), 315],
      [async () => await writeFile(path('b.ndjson'), lines(290, 9)), 305],
      [async () => await rm(path('a.ndjson')), 290],
    ]
    for (const [change, documents] of changes) {
      const first = await interrupted(glob, 100, { again: true })
      await change()
      let receipt: Receipt | undefined
      const warnings = await warningsOf(async onEvent => {
        receipt = await load(glob, { onEvent })
      })
      const left = `the inputs changed after run ${first.run} was interrupted, so Sluice loads everything again and leaves ${first.alias?.to} as it is`
      expect(warnings).toEqual([left])
      await expectSwitched(receipt as Receipt, documents)
    }
  })

  test('between its last document and the switch goes on from there', async () => {
    await writeFile(path('a.ndjson'), lines(30))
    lab.control.plant({ stall: { method: 'POST', path: '/_count' } })
    const controller = new AbortController()
    const run = failureOf(load(path('a.ndjson'), { signal: controller.signal, graceMs: 1 }))
    await until(() => lab.control.struck('stall') > 0)
    controller.abort('test')
    expect((await run).text).toBe('RUN_INTERRUPTED: interrupted after 30 documents: test')
    expect(await behind(lab, alias)).toBe(old)
    lab.control.heal()
    const receipt = await load(path('a.ndjson'))
    expect(receipt).toMatchObject({ read: 30, requests: 0 })
    await expectSwitched(receipt, 30)
  })

  test('that has a name is refused where an input changed: the name is that of the index', async () => {
    await writeFile(path('a.ndjson'), lines(300))
    await interrupted(path('a.ndjson'), 100, { runId: 'Nightly' })
    await writeFile(path('a.ndjson'), lines(300, 5))
    expect((await failureOf(load(path('a.ndjson'), { runId: 'Nightly' }))).text).toMatch(/^INPUT_CHANGED/)
    await writeFile(path('a.ndjson'), lines(300))
    const receipt = await load(path('a.ndjson'), { runId: 'Nightly' })
    expect(await expectSwitched(receipt, 300)).toBe(`${alias}-nightly`)
  })

  test('stops where somebody else has switched the alias since it began', async () => {
    await writeFile(path('a.ndjson'), lines(300))
    const { run } = await interrupted(path('a.ndjson'), 100)
    const { alias: other } = await ingest({ ...wayInto(lab), source: new Set([{}]), swapAlias: alias })
    const { text } = await failureOf(load(path('a.ndjson')))
    expect(text).toContain(`ALIAS_CONFLICT: cannot switch the alias ${alias}: it was on ${old} when run ${run} began`)
    expect(await behind(lab, alias)).toBe(other?.to)
  })

  test('begins anew where its index was deleted', async () => {
    await writeFile(path('a.ndjson'), lines(300))
    const first = await interrupted(path('a.ndjson'), 100)
    {
      await using way = await connect(wayInto(lab))
      await way.client.indices.delete({ index: first.alias?.to ?? '' })
    }
    const second = await load(path('a.ndjson'))
    expect(second.run).not.toBe(first.run)
    await expectSwitched(second, 300)
  })
})

describe('a guarded load that is through', () => {
  test('is not made again, unless the inputs have changed: then whole, into another index', async () => {
    await writeFile(path('a.ndjson'), lines(30))
    await writeFile(path('b.ndjson'), lines(20))
    const glob = path('*.ndjson')
    const first = await expectSwitched(await load(glob), 50)
    const same = await load(glob)
    expect(same).toMatchObject({ read: 50, alias: { to: first, switched: true, from: old } })
    expect(same.thisProcess.read).toBe(0)
    await appendFile(path('a.ndjson'), lines(5, 31))
    const second = await expectSwitched(await load(glob), 55)
    await rm(path('b.ndjson'))
    const third = await expectSwitched(await load(glob), 35)
    expect(new Set([first, second, third]).size).toBe(3)
    expect((await indicesOf(lab, third))[0]?.mark).toMatchObject({ previous: second })
  })

  test('stays rolled back, unless it is made again', async () => {
    await writeFile(path('a.ndjson'), lines(30))
    const first = await expectSwitched(await load(path('a.ndjson')), 30)
    expect(await rollback({ ...wayInto(lab), alias })).toEqual({ alias, from: first, to: old, documents: 1 })
    let kept: Receipt | undefined
    const warnings = await warningsOf(async onEvent => {
      kept = await load(path('a.ndjson'), { onEvent })
    })
    const reason = expect.stringContaining(`${alias} is on ${old}, not on ${first}`) as string
    expect(warnings).toEqual([reason])
    expect(kept?.alias).toEqual({ name: alias, from: old, to: first, switched: false, reason })
    expect(await behind(lab, alias)).toBe(old)
    await expectSwitched(await load(path('a.ndjson'), { again: true }), 30)
  })

  test('whose checks failed makes them anew, and loads nothing twice', async () => {
    await writeFile(path('a.ndjson'), `${lines(30)}nonsense\n`)
    const { text, receipt } = await failureOf(load(path('a.ndjson')))
    const { to = '' } = (receipt as Receipt).alias ?? {}
    expect(text).toBe(
      `LOAD_CHECK_FAILED: Sluice loaded the index ${to} but did not switch ${alias}: 1 document was rejected, and --max-rejected is not set`,
    )
    expect(await indicesOf(lab, to)).toMatchObject([{ refreshInterval: '9s', replicas: '2' }])
    expect((await failureOf(load(path('a.ndjson')))).text).toMatch(/^LOAD_CHECK_FAILED/)
    const second = await load(path('a.ndjson'), { maxRejected: 1 })
    expect(second).toMatchObject({ read: 31, rejected: 1, requests: 0, alias: { to } })
    await expectSwitched(second, 30)
  })

  test('whose checks failed takes a new file into the same index', async () => {
    await writeFile(path('a.ndjson'), lines(20))
    const source = path('*.ndjson')
    const check = { checkQuery: { query: { match_all: {} } }, deadLetters: undefined }
    const failed = await failureOf(load(source, { ...check, checkHits: 30 }))
    expect(failed.text).toMatch(/^LOAD_CHECK_FAILED/)
    await writeFile(path('b.ndjson'), lines(10, 21))
    const receipt = await load(source, { ...check, checkHits: 30 })
    expect(receipt).toMatchObject({
      run: (failed.receipt as Receipt).run,
      status: 'finished',
      created: 30,
      alias: { to: (failed.receipt as Receipt).alias?.to, switched: true },
    })
    expect(lab.control.count(alias)).toBe(30)
  })

  test('whose rejected documents were replayed finds them, and switches when none is left', async () => {
    await writeFile(path('a.ndjson'), `${lines(30)}{"n":"two"}\n[3]\n`)
    const { receipt } = await failureOf(load(path('a.ndjson')))
    const { to = '' } = (receipt as Receipt).alias ?? {}
    const repair = async (name: string, from: string, by: string) => {
      await writeFile(path(name), (await readFile(path(name), 'utf8')).replace(from, by))
    }
    const sendAgain = async (name: string, left: string) => {
      const way = { ...wayInto(lab), stateDir: path('state') }
      return await replay({ ...way, source: path(name), deadLetters: path(left) })
    }
    await repair('dead.ndjson', '"two"', '2')
    expect(await sendAgain('dead.ndjson', 'left.ndjson')).toMatchObject({ created: 1, rejected: 1 })
    expect((await failureOf(load(path('a.ndjson')))).text).toMatch(
      /: 1 document was rejected, and --max-rejected is not set$/,
    )
    expect(await behind(lab, alias)).toBe(old)

    await repair('left.ndjson', '"line":"[3]"', '"document":{"n":3}')
    expect(await sendAgain('left.ndjson', 'none.ndjson')).toMatchObject({ created: 1, rejected: 0 })
    const letters = await readFile(path('dead.ndjson'), 'utf8')
    await rm(path('dead.ndjson'))
    const untold = '2 documents were rejected, and --max-rejected is not set. The index also holds 2 documents'
    expect((await failureOf(load(path('a.ndjson')))).text).toContain(untold)
    await writeFile(path('dead.ndjson'), letters)
    let last: Receipt | undefined
    const warnings = await warningsOf(async onEvent => {
      last = await load(path('a.ndjson'), { onEvent })
    })
    expect(warnings).toEqual([`2 of the rejected documents were replayed, and are in ${to}`])
    expect(last).toMatchObject({ created: 30, rejected: 2, requests: 0 })
    expect(await expectSwitched(last as Receipt, 32)).toBe(to)
  })

  test('whose rejected documents have no ids says that it cannot find them', async () => {
    await writeFile(path('a.ndjson'), `${lines(30)}{"n":"two"}\n`)
    const { receipt } = await failureOf(load(path('a.ndjson'), { ids: 'cluster' }))
    const { to = '' } = (receipt as Receipt).alias ?? {}
    await writeFile(path('dead.ndjson'), (await readFile(path('dead.ndjson'), 'utf8')).replace('"two"', '2'))
    const replayed = await replay({ ...wayInto(lab), source: path('dead.ndjson') })
    expect(replayed).toMatchObject({ created: 1 })
    const { text } = await failureOf(load(path('a.ndjson'), { ids: 'cluster' }))
    expect(text).toContain('. The index also holds 1 document that neither the run nor its dead letters explain')
    expect(await rollback({ ...wayInto(lab), alias, to })).toMatchObject({ to, documents: 31 })
  })

  test('is stopped by documents of somebody else, and can be taken all the same', async () => {
    await writeFile(path('a.ndjson'), lines(30))
    const source = async function* () {
      yield { n: 1 }
      const [fresh] = await freshOnes()
      await using way = await connect(wayInto(lab))
      await way.client.index({ index: fresh?.name ?? '', document: { n: 0 } })
    }
    const { text, receipt } = await failureOf(load(source()))
    const { to = '' } = (receipt as Receipt).alias ?? {}
    expect(text).toContain('the run stored 1 document, but the index holds 2')
    expect(await rollback({ ...wayInto(lab), alias, to })).toEqual({ alias, from: old, to, documents: 2 })
    expect(await behind(lab, alias)).toBe(to)
  })
})

describe('a guarded load with a name and without its state', () => {
  test('goes on in its index, and doubles nothing', async () => {
    await writeFile(path('a.ndjson'), lines(300))
    const { alias: first } = await interrupted(path('a.ndjson'), 100, { runId: 'one' })
    await rm(path('state'), { recursive: true })
    const second = await load(path('a.ndjson'), { runId: 'one' })
    expect(second.created + second.duplicate).toBe(300)
    expect(second.duplicate).toBeGreaterThan(0)
    expect(await expectSwitched(second, 300)).toBe(first?.to)
  })

  test('does not write to what the alias leads to', async () => {
    await writeFile(path('a.ndjson'), lines(30))
    const to = await expectSwitched(await load(path('a.ndjson'), { runId: 'two' }), 30)
    await rm(path('state'), { recursive: true })
    await writeFile(path('a.ndjson'), lines(40))
    expect((await failureOf(load(path('a.ndjson'), { runId: 'two' }))).text).toContain(`it is already on ${to}`)
    expect(lab.control.count(to)).toBe(30)
  })

  test('does not take an index that another run made', async () => {
    const indexBody = { mappings: { _meta: { sluice: { run: 'other', alias } } } }
    {
      await using way = await connect(wayInto(lab))
      await way.client.indices.create({ index: `${alias}-three`, ...indexBody })
    }
    const { text } = await failureOf(load(new Set([{}]), { runId: 'three' }))
    expect(text).toContain(`there is an index ${alias}-three that run three did not create`)
  })
})

const steps = [
  ['PUT', ''],
  ['PUT', '/_mapping'],
  ['PUT', '/_settings'],
  ['POST', '/_refresh'],
  ['POST', '/_count'],
  ['POST', '/_aliases'],
] as const

test.each(steps.filter((_, at) => at % rounds(2, 1) === 0))(
  'no answer at all to %s %s holds an interrupted load no longer than its grace',
  async (method, end) => {
    await writeFile(path('a.ndjson'), lines(2))
    lab.control.plant({ stall: { method, path: end } })
    const controller = new AbortController()
    const run = failureOf(load(path('a.ndjson'), { signal: controller.signal, graceMs: 50 }))
    await until(() => lab.control.struck('stall') > 0)
    controller.abort('test')
    // One is in the index before.
    const settled = lab.control.count(`${alias}-*`) - 1
    expect((await run).text).toBe(`RUN_INTERRUPTED: interrupted after ${settled} documents: test`)
    expect(await behind(lab, alias)).toBe(old)
    lab.control.heal()
    await expectSwitched(await load(path('a.ndjson')), 2)
  },
)

test('an alias that is not answered for holds an interrupted load no longer than its grace', async () => {
  lab.control.plant({ stall: { method: 'GET', path: `/${alias}` } })
  const controller = new AbortController()
  const run = failureOf(load(new Set([{ n: 1 }]), { signal: controller.signal, graceMs: 50 }))
  await until(() => lab.control.struck('stall') > 0)
  controller.abort('test')
  expect((await run).text).toBe('RUN_INTERRUPTED: interrupted after 0 documents: test. Loading had not begun')
})

describe('access that is lost in a step of a guarded load', () => {
  /** A load that loses it when that happens for the first time; the events that tell. */
  async function losing(
    moment: IngestEvent['type'],
    lose: () => void,
    more: More,
    regain: () => void = () => undefined,
  ) {
    const told: string[] = []
    let isLost = false
    const onEvent = (event: IngestEvent) => {
      if (event.type === moment && !isLost) {
        isLost = true
        lose()
      }
      if (event.type === 'blocked') regain()
      if (event.type === 'blocked' || event.type === 'unblocked') told.push(`${event.type}: ${event.failure.code}`)
    }
    await writeFile(path('a.ndjson'), lines(2))
    return { told, run: load(path('a.ndjson'), { ...more, onEvent }) }
  }

  test.each([
    ['before its first document', 'preflight'],
    ['after its last', 'progress'],
  ] as const)('%s is waited for', async (_, moment) => {
    const { told, run } = await losing(
      moment,
      () => lab.control.register('none'),
      { onBlock: { waitMs: 4000 } },
      () => lab.control.register('both'),
    )
    await expectSwitched(await run, 2)
    expect(told).toEqual(['blocked: EGRESS_NOT_ALLOWED', 'unblocked: EGRESS_NOT_ALLOWED'])
  })

  test('comes back with other credentials', async () => {
    const refreshCredentials = () => ({ apiKey: lab.line.cluster.apiKey })
    const rotate = () => void lab.control.rotateApiKey()
    const { told, run } = await losing('progress', rotate, { onBlock: 'wait', refreshCredentials })
    await expectSwitched(await run, 2)
    expect(told).toEqual(['unblocked: CLUSTER_AUTH_REJECTED'])
  })

  test('is waited for no longer than was said, and the same call goes on', async () => {
    const { told, run } = await losing('progress', () => lab.control.register('none'), { onBlock: { waitMs: 5000 } })
    const { text, receipt } = await failureOf(run)
    expect(text).toMatch(/^EGRESS_NOT_ALLOWED: .* refused 16 of 16 connections.*\. Sluice waited \d+ s for access$/)
    expect([...new Set(told)]).toEqual(['blocked: EGRESS_NOT_ALLOWED'])
    expect(receipt).toMatchObject({ created: 2, unsent: 0, unknown: 0, alias: { switched: false } })
    lab.control.register('both')
    expect(await behind(lab, alias)).toBe(old)
    const second = await load(path('a.ndjson'))
    expect(second.requests).toBe(0)
    await expectSwitched(second, 2)
  })

  test('stops it at once without a wait, by the name that fresh connections give it', async () => {
    const { told, run } = await losing('progress', () => lab.control.register('none'), {})
    expect((await failureOf(run)).text).toMatch(/^EGRESS_NOT_ALLOWED: .* refused 16 of 16 connections/)
    expect(told).toEqual([])
  })
})

test.each(steps.filter((_, at) => at % rounds(2, 1) === rounds(1, 0)))(
  'a lost answer to %s %s is asked for again, whether it was carried out or not',
  async (method, end) => {
    for (const done of [false, true]) {
      lab.control.plant({ stall: { method, path: end, done, times: 1 } })
      const receipt = await load(new Set([{ n: 1 }, { n: 2 }]), { timeoutMs: 4000 })
      expect(lab.control.struck('stall')).toBe(1)
      await expectSwitched(receipt, 2)
    }
  },
)

test('an alias that a template puts on the new index is taken off again, and named', async () => {
  // What a template does, done by hand: the answer to the index's making comes too late.
  lab.control.plant({ stall: { method: 'PUT', path: '', done: true, times: 1 } })
  const run = failureOf(load(new Set([{}]), { timeoutMs: 6000 }))
  await eventually(() => expect(lab.control.struck('stall')).toBe(1))
  const [fresh] = await freshOnes()
  {
    await using way = await connect(wayInto(lab))
    await way.client.indices.updateAliases({ actions: [{ add: { index: fresh?.name ?? '', alias } }] })
  }
  expect((await run).text).toContain(`an index template put it on ${fresh?.name}`)
  expect(await behind(lab, alias)).toBe(old)
})

test('a load that is not through is nothing to roll back to', async () => {
  await writeFile(path('a.ndjson'), lines(300))
  const { alias: first } = await interrupted(path('a.ndjson'), 100)
  const { text } = await failureOf(rollback({ ...wayInto(lab), alias, to: first?.to }))
  expect(text).toContain(`the load into ${first?.to} has not finished`)
})

test('a key that may not look at indices is named', async () => {
  const way = wayInto(lab)
  const target = { ...way.target, apiKey: lab.line.cluster.leastPrivilegeApiKey }
  const { text } = await failureOf(ingest({ ...way, target, source: new Set([{}]), swapAlias: 'least-swap' }))
  expect(text).toMatch(/^CLUSTER_PRIVILEGE_MISSING: .*indices:admin\/get/)
})

test('copies that follow the number of nodes are held back too, and come again', async () => {
  const indexBody = { settings: { refresh_interval: '9s', number_of_replicas: 2, auto_expand_replicas: '0-all' } }
  const expands = async () => {
    await using way = await connect(wayInto(lab))
    const found = Object.entries(await way.client.indices.getSettings({ index: `${alias}-*`, flat_settings: true }))
    return found.find(([name]) => name !== old)?.[1].settings?.['index.auto_expand_replicas']
  }
  const seen: unknown[] = []
  const source = async function* () {
    seen.push(await expands())
    yield {}
  }
  await expectSwitched(await load(source(), { indexBody }), 1)
  expect([...seen, await expands()]).toEqual(['false', '0-all'])
})

test('serverless keeps copies and shards by itself', async () => {
  const serverless = await startLab({ version: 'serverless' })
  try {
    const way = wayInto(serverless)
    const indexBody = { settings: { refresh_interval: '9s' } }
    const first = await ingest({ ...way, source: new Set([{}]), swapAlias: 'swap', indexBody })
    const seen: unknown[] = []
    const source = async function* () {
      seen.push(...(await indicesOf(serverless, 'swap-*')).filter(({ name }) => name !== first.alias?.to))
      yield {}
    }
    expect((await ingest({ ...way, source: source(), swapAlias: 'swap' })).alias?.switched).toBe(true)
    const restore = { 'index.refresh_interval': '9s' }
    expect(seen).toMatchObject([{ refreshInterval: '-1', mark: { loading: true, restore } }])
  } finally {
    await serverless.close()
  }
})
