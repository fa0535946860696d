/** `servicenow:incident` into the lab's cluster, through the lab's proxy: all of it, then what changed, whatever happens meanwhile. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { type IngestEvent, type IngestOptions, type Receipt, ingest, isSluiceError } from '../../../src/index.js'
import { checkpoint, index, lab, otherIndex, shareLab, smallBatches } from '../../support/lab/shared-lab.js'

shareLab()

const sn = () => lab.control.servicenow

let tables = 0

/** A table of its own for a test, with rows of which some change in the same second as others. */
function newTable(rows: number): string {
  tables += 1
  const table = `u_test_${tables}`
  sn().createTable(table, { fields: { number: { type: 'string' }, state: { type: 'string' } } })
  if (rows > 0) sn().seed(table, rows)
  return table
}

function options(table: string, more: Partial<IngestOptions> = {}): IngestOptions {
  const { url, username, password, clientId, clientSecret } = lab.line.servicenow
  const ca = readFileSync(lab.line.cluster.caFile)
  return {
    ...smallBatches(),
    batchDocs: 100,
    source: `servicenow:${table}`,
    servicenow: { url, username, password, clientId, clientSecret, ca },
    table: { pageSize: 50 },
    ...more,
  }
}

async function load(table: string, more: Partial<IngestOptions> = {}): Promise<Receipt> {
  return await ingest(options(table, more))
}

async function stopped(
  run: Promise<unknown>,
): Promise<{ code: string; message: string; receipt: Receipt | undefined }> {
  try {
    await run
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { code: error.code, message: error.message, receipt: error.receipt }
  }
  throw new Error('the run did not stop')
}

/** Every row is in the index as it is now, under its sys_id, and nothing else. */
function expectCurrent(table: string): void {
  const rows = sn().rows(table)
  const wrong = rows.filter(row => {
    const source = lab.control.source(index, row['sys_id'] ?? '')?.toString()
    if (source === undefined) return true
    const stored = JSON.parse(source) as Record<string, string>
    return Object.entries(row).some(([field, value]) => stored[field] !== value)
  })
  expect(wrong).toEqual([])
  expect(lab.control.count(index)).toBe(rows.length)
}

function ids(table: string): string[] {
  return sn()
    .rows(table)
    .map(row => row['sys_id'] ?? '')
}

/** Does something to the platform once a request for rows of the table came in. */
async function during(table: string, after: number, act: () => void): Promise<void> {
  const asked = () =>
    sn()
      .requests()
      .filter(({ path }) => path.endsWith(`/${table}`)).length
  const before = asked()
  await eventually(() => expect(asked()).toBeGreaterThan(before + after))
  act()
}

describe('a table', () => {
  test('is loaded whole: every row once, from the static addresses alone', async () => {
    const table = newTable(730)
    lab.control.forgetConnections()
    const receipt = await load(table)
    expect(receipt).toMatchObject({ status: 'finished', read: 730, created: 730, updated: 0, rejected: 0 })
    expect(receipt.platform).toMatchObject({ url: lab.line.servicenow.url })
    expect(receipt.platform?.connections).toBeGreaterThan(0)
    expectCurrent(table)
    const arrived = lab.control.connections().filter(({ at }) => at === 'servicenow' || at === 'cluster')
    expect(arrived.length).toBeGreaterThan(0)
    expect(arrived.filter(({ from }) => !lab.line.staticIps.includes(from))).toEqual([])
  })

  test('moves only what changed from the second run on', async () => {
    const table = newTable(300)
    await load(table)
    expect(await load(table)).toMatchObject({ read: 0, updated: 0, inputs: [{ since: expect.any(String) as string }] })
    const [first = '', second = ''] = ids(table)
    sn().update(table, first, { state: 'changed' })
    sn().update(table, second, { state: 'changed' })
    sn().insert(table, { number: 'new' })
    expect(await load(table)).toMatchObject({ read: 3, created: 1, updated: 2 })
    expectCurrent(table)
    sn().update(table, first, { state: 'changed again' })
    expect(await load(table)).toMatchObject({ read: 1, updated: 1 })
    expectCurrent(table)
  })

  test('that changes while it is read is in the index as it is in the end', { tags: 'long' }, async () => {
    const table = newTable(600)
    const run = load(table)
    await during(table, 4, () => {
      for (const id of ids(table).slice(0, 150)) sn().update(table, id, { state: 'during' })
      for (let n = 0; n < 20; n += 1) sn().insert(table, { number: `during ${n}` })
    })
    const receipt = await run
    expect(receipt).toMatchObject({ status: 'finished', rejected: 0, unknown: 0 })
    expect(receipt.created).toBe(620)
    expectCurrent(table)
  })

  test('is gone on with after an interruption in its middle: no row is lost', async () => {
    const table = newTable(900)
    const controller = new AbortController()
    const onEvent = ({ type }: IngestEvent) => type === 'progress' && controller.abort('SIGTERM')
    const { code, receipt } = await stopped(load(table, { signal: controller.signal, onEvent }))
    expect(code).toBe('RUN_INTERRUPTED')
    expect((await checkpoint()).inputs).toMatchObject([{ status: 'begun', place: expect.any(Object) as object }])
    const rest = await load(table)
    expect(rest.run).toBe(receipt?.run)
    expect(rest).toMatchObject({ status: 'finished', read: 900 })
    expect(rest.thisProcess.read).toBeLessThan(900)
    expectCurrent(table)
  })

  test('is read on although tokens expire in the middle', async () => {
    const table = newTable(500)
    const { clientId } = lab.line.servicenow
    sn().changeClient(clientId, { accessTokenSeconds: 5 })
    try {
      sn().forgetRequests()
      const run = load(table, { servicenow: { ...options(table).servicenow!, grant: 'password' } })
      await during(table, 3, () => sn().advanceClock(6000))
      expect(await run).toMatchObject({ status: 'finished', read: 500, created: 500 })
      expect(
        sn()
          .requests()
          .filter(({ path }) => path === '/oauth_token.do').length,
      ).toBeGreaterThan(1)
    } finally {
      sn().changeClient(clientId, { accessTokenSeconds: 1800 })
      sn().setClock(undefined)
    }
    expectCurrent(table)
  })

  test('beside another one: both are loaded, and each has its own account', { tags: 'long' }, async () => {
    const [one, other] = [newTable(120), newTable(80)]
    const receipt = await load(one, { source: [`servicenow:${one}`, `servicenow:${other}`] })
    expect(receipt.inputs).toMatchObject([
      { name: `servicenow:${one}`, status: 'finished', read: 120 },
      { name: `servicenow:${other}`, status: 'finished', read: 80 },
    ])
    expect(lab.control.count(index)).toBe(200)
  })

  test.each(['true', 'all'] as const)(
    'as it is displayed (%s) has the same ids',
    { tags: 'long' },
    async displayValue => {
      const table = newTable(30)
      expect(await load(table, { table: { displayValue } })).toMatchObject({ read: 30, created: 30, rejected: 0 })
      const [first = ''] = ids(table)
      const stored = JSON.parse(lab.control.source(index, first)?.toString() ?? '{}') as Record<string, unknown>
      expect(stored['sys_id']).toBe(first)
      sn().update(table, first, { state: 'changed' })
      expect(await load(table, { table: { displayValue } })).toMatchObject({ read: 1, updated: 1 })
    },
  )

  test('of which a query and some fields are asked for', async () => {
    const table = newTable(100)
    for (const id of ids(table).slice(0, 30)) sn().update(table, id, { state: '7' })
    const selection = { query: 'state=7', fields: ['number', 'state'] }
    expect(await load(table, { table: selection })).toMatchObject({ read: 30, created: 30 })
    const [first = ''] = ids(table)
    const stored = JSON.parse(lab.control.source(index, first)?.toString() ?? '{}') as object
    expect(stored).toMatchObject({ sys_id: first, state: '7' })
    const events: IngestEvent[] = []
    const again = await load(table, { table: { fields: ['number'] }, onEvent: event => events.push(event) })
    expect(again).toMatchObject({ read: 100, created: 70, updated: 30 })
    expect(events.filter(({ type }) => type === 'warning')).toHaveLength(1)
  })
})

describe('a refusal', { tags: 'long' }, () => {
  test.each([
    ['only one address is registered', () => sn().register('first'), 'SERVICENOW_PARTLY_ALLOWED'],
    ['no address is registered', () => sn().register('none'), 'SERVICENOW_ADDRESS_REFUSED'],
    ['the instance sleeps', () => sn().hibernate('page'), 'SERVICENOW_HIBERNATING'],
  ])('%s: nothing is loaded', async (_, plan, code) => {
    const table = newTable(50)
    plan()
    try {
      const run = await stopped(load(table, { preflightConnections: 16 }))
      expect(run).toMatchObject({ code, receipt: undefined })
      expect(lab.control.count(index)).toBe(0)
    } finally {
      sn().register('both')
      sn().heal()
    }
    expect(await load(table)).toMatchObject({ created: 50 })
  })

  test('wrong credentials, and a table that is not there', async () => {
    const table = newTable(1)
    const { url, username } = lab.line.servicenow
    const ca = readFileSync(lab.line.cluster.caFile)
    const wrong = { url, ca, username, password: 'wrong' }
    expect(await stopped(load(table, { servicenow: wrong }))).toMatchObject({ code: 'SERVICENOW_AUTH_REJECTED' })
    expect(await stopped(load('u_missing'))).toMatchObject({ code: 'SERVICENOW_TABLE_UNKNOWN' })
  })

  test.each([
    ['the instance falls asleep', () => sn().hibernate('page'), () => sn().heal(), 'SERVICENOW_HIBERNATING'],
    ['the addresses', () => sn().register('none'), () => sn().register('both'), 'SERVICENOW_ADDRESS_REFUSED'],
  ])('%s in the middle: what was read is stored, and the same command goes on', async (_, plan, undo, code) => {
    const table = newTable(600)
    const run = stopped(load(table))
    await during(table, 5, plan)
    const { code: named, receipt } = await run
    undo()
    expect(named).toBe(code)
    expect(receipt).toMatchObject({ status: 'failed', inputs: [{ status: 'failed' }] })
    expect(await load(table)).toMatchObject({ run: receipt?.run, status: 'finished', read: 600 })
    expectCurrent(table)
  })

  test('a limit of the rate that lasts: a time budget does not wait for it', { tags: 'long' }, async () => {
    const table = newTable(600)
    const run = stopped(load(table, { timeBudgetMs: 8000 }))
    await during(table, 3, () => sn().plant({ rateRule: { api: 'table', retryAfterSeconds: 600 } }))
    const { code, receipt } = await run
    sn().heal()
    expect(code).toBe('TIME_BUDGET_SPENT')
    expect(await load(table)).toMatchObject({ run: receipt?.run, status: 'finished', read: 600 })
    expectCurrent(table)
  })

  test('pages that are too large for the instance are made smaller', async () => {
    const table = newTable(300)
    sn().plant({ quota: { rows: 20 } })
    expect(await load(table)).toMatchObject({ status: 'finished', created: 300 })
    sn().heal()
    expectCurrent(table)
    otherIndex()
  })
})
