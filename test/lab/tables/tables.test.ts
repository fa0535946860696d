/** Tables as inputs of a load: a table in memory, and the lab's cluster. */
import { describe, expect, test } from 'vitest'
import { failure, SluiceError } from '../../../src/base/failure/failure.js'
import { type IngestEvent, type IngestOptions, type Receipt, connect, isSluiceError } from '../../../src/index.js'
import { ingestFrom } from '../../../src/ingest.js'
import { FakeTable, fakePlatform } from '../../support/servers/fake-table.js'
import { checkpoint, index, lab, shareLab, smallBatches, way } from '../../support/lab/shared-lab.js'

shareLab()

const servicenow = { url: 'https://instance.example', username: 'u', password: 'p' }
const gaveUp = failure('SERVICENOW_RATE_LIMITED', {
  instance: 'https://instance.example',
  observed: 'Retry-After 1800 s',
})

function given(tables: readonly FakeTable[], more: Partial<IngestOptions>): IngestOptions {
  return { source: tables.map(({ name }) => `servicenow:${name}`), servicenow, ...smallBatches(), ...more }
}

async function load(tables: readonly FakeTable[], more: Partial<IngestOptions> = {}): Promise<Receipt> {
  return await ingestFrom(given(tables, more), async () => await Promise.resolve(fakePlatform(tables)))
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

async function deleteIndex(): Promise<void> {
  await using connected = await connect(way())
  await connected.client.transport.request({ method: 'DELETE', path: `/${index}` })
}

function filled(rows: number): FakeTable {
  const table = new FakeTable('incident')
  table.putAll(rows)
  return table
}

function expectStored(...tables: readonly FakeTable[]): void {
  const rows = tables.flatMap(table => [...table.rows.values()])
  for (const row of rows) expect(JSON.parse(lab.control.source(index, row.sys_id)?.toString() ?? 'null')).toEqual(row)
  expect(lab.control.count(index)).toBe(rows.length)
}

describe('a table', () => {
  test('is loaded whole, then only what changed', async () => {
    const table = filled(95)
    const first = await load([table])
    expect(first).toMatchObject({ status: 'finished', read: 95, created: 95, updated: 0 })
    expect(first.inputs).toEqual([{ name: 'servicenow:incident', status: 'finished', read: 95 }])
    expect(first.platform).toEqual({ url: 'https://instance.example', connections: 1, sent: 10, received: 100 })
    expectStored(table)

    const nothing = await load([table])
    expect(nothing).toMatchObject({
      read: 0,
      created: 0,
      updated: 0,
      inputs: [{ status: 'finished', since: 'tick 95' }],
    })
    expect(nothing.run).not.toBe(first.run)

    table.put(3, 300)
    table.put(96)
    const events: IngestEvent[] = []
    const changes = await load([table], { onEvent: event => events.push(event) })
    expect(changes).toMatchObject({ read: 2, created: 1, updated: 1 })
    expect(events.find(({ type }) => type === 'input')).toMatchObject({ since: 'tick 95' })
    expect(events.find(event => event.type === 'preflight')?.notes).toContain(
      'Sluice reads the rows of servicenow:incident that changed since tick 95. To read all rows, pass --again',
    )
    expect(events.find(event => event.type === 'progress')?.rows).toEqual({ read: 2, total: 2 })
    expectStored(table)
    expect(await load([table])).toMatchObject({ read: 0 })
  })

  test('that was empty has a place all the same', async () => {
    const table = new FakeTable('incident')
    expect(await load([table])).toMatchObject({ read: 0, status: 'finished' })
    table.put(1)
    expect(await load([table])).toMatchObject({ created: 1 })
    expectStored(table)
    expect(await load([table])).toMatchObject({ read: 0 })
  })

  test('is read whole where that is asked for, where no state is kept, and where its index is gone', async () => {
    const table = filled(30)
    await load([table])
    expect(await load([table], { again: true })).toMatchObject({ read: 30, updated: 30 })
    const { stateDir: _, ...stateless } = smallBatches()
    table.settled = 0
    expect(await load([table], { ...stateless, stateDir: undefined })).toMatchObject({ read: 30, updated: 30 })
    // Else it would have to remember all of them.
    expect(table.settled).toBe(30)
    expect(await load([table])).toMatchObject({ read: 0 })
    await deleteIndex()
    expect(await load([table])).toMatchObject({ read: 30, created: 30 })
    expectStored(table)
  })

  test('is read whole where an alias was led to another index, and not where one was added', async () => {
    await using direct = await connect(way())
    const { indices } = direct.client
    await indices.create({ index: `${index}-1`, aliases: { [index]: { is_write_index: true } } })
    const table = filled(30)
    await load([table])
    await indices.create({ index: `${index}-2`, aliases: { [index]: { is_write_index: false } } })
    expect(await load([table])).toMatchObject({ read: 0 })
    const remove = (name: string) => ({ remove: { index: `${index}-${name}`, alias: index } })
    await indices.create({ index: `${index}-3` })
    await indices.updateAliases({
      actions: [remove('1'), remove('2'), { add: { index: `${index}-3`, alias: index, is_write_index: true } }],
    })
    const warnings: string[] = []
    const onEvent = (event: IngestEvent) => event.type === 'warning' && warnings.push(event.message)
    expect(await load([table], { onEvent })).toMatchObject({ read: 30, created: 30 })
    expect(warnings).toEqual([expect.stringContaining(`${index}-1, ${index}-2 are no longer the indices`) as string])
    expect(lab.control.count(`${index}-3`)).toBe(30)
    expect(await load([table])).toMatchObject({ read: 0 })
  })

  test('is read by a dry run, which sends nothing and keeps no place', async () => {
    const table = filled(30)
    expect(await load([table], { dryRun: true })).toMatchObject({ read: 30, unsent: 30 })
    expect(table.settled).toBe(30)
    expect(lab.control.count(index)).toBe(0)
    expect(await load([table])).toMatchObject({ created: 30 })
  })

  test('that cannot be read to its end keeps the others from nothing, and is gone on with', async () => {
    const broken = filled(95)
    const whole = new FakeTable('problem')
    whole.putAll(40, 1000)
    broken.beforePage = page => {
      if (page === 5) throw new SluiceError(gaveUp)
    }
    const tables = [broken, whole]
    const { code, receipt } = await stopped(load(tables))
    expect(code).toBe('SERVICENOW_RATE_LIMITED')
    expect(receipt).toMatchObject({ status: 'failed', created: 80 })
    expect(receipt?.inputs).toMatchObject([
      { status: 'failed', read: 40, failure: { code: 'SERVICENOW_RATE_LIMITED' } },
      { status: 'finished', read: 40 },
    ])
    expect((await checkpoint()).inputs).toMatchObject([{ status: 'failed' }, { status: 'finished' }])
    // What changed meanwhile in the one that was read whole does not wait for the other one.
    whole.put(1005, 7)
    broken.beforePage = () => undefined
    const given40 = broken.given
    const second = await load(tables)
    expect(second).toMatchObject({ run: receipt?.run, status: 'finished', read: 136, created: 135, updated: 1 })
    expect(second.inputs).toMatchObject([
      { read: 95, resumedAt: 41 },
      { read: 41, resumedAt: 41, since: expect.any(String) as string },
    ])
    expect(broken.given - given40).toBe(55)
    expectStored(...tables)
    expect(await load(tables)).toMatchObject({ read: 0 })
  })

  test('whose reading of changes was interrupted before the first row goes on with them, and not with all', async () => {
    const table = filled(50)
    await load([table])
    table.put(7, 70)
    const controller = new AbortController()
    table.beforePage = () => controller.abort('SIGTERM')
    const { code, receipt } = await stopped(load([table], { signal: controller.signal }))
    expect(code).toBe('RUN_INTERRUPTED')
    table.beforePage = () => undefined
    expect(await load([table])).toMatchObject({ run: receipt?.run, read: 1, updated: 1 })
    expectStored(table)
  })

  test('of which other rows are asked for is read whole again; an unfinished run refuses', async () => {
    const table = filled(30)
    table.selection = { query: 'active=true' }
    await load([table])
    table.selection = { query: 'active=false' }
    const events: IngestEvent[] = []
    expect(await load([table], { onEvent: event => events.push(event) })).toMatchObject({ read: 30, updated: 30 })
    expect(events.flatMap(event => (event.type === 'warning' ? [event.message] : []))).toEqual([
      expect.stringMatching(
        /^Sluice reads all of servicenow:incident again: query .* was active=true but is now active=false/,
      ),
    ])
    table.putAll(30, 100)
    table.beforePage = page => {
      if (page === 3) throw new SluiceError(gaveUp)
    }
    await stopped(load([table]))
    table.selection = { query: 'active=true' }
    const { code, message } = await stopped(load([table]))
    expect(code).toBe('RUN_OPTIONS_CHANGED')
    expect(message).toContain('query of servicenow:incident was active=false but is now active=true')
  })

  test('is one run at a time into an index', async () => {
    const table = filled(30)
    let other: Promise<{ code: string }> | undefined
    table.beforePage = async page => {
      if (page === 2) other = stopped(load([filled(1)]))
      await other
    }
    await load([table])
    expect(await other).toMatchObject({ code: 'RUN_LOCKED' })
  })

  test('whose platform refuses is not loaded at all', async () => {
    const table = filled(30)
    const refused = failure('SERVICENOW_PARTLY_ALLOWED', {
      instance: 'https://instance.example',
      allowed: 9,
      asked: 16,
    })
    const run = ingestFrom(given([table], {}), async () => await Promise.resolve(fakePlatform([table], refused)))
    expect(await stopped(run)).toMatchObject({ code: 'SERVICENOW_PARTLY_ALLOWED', receipt: undefined })
    expect(table.given).toBe(0)
  })

  test('ends as it is now, although the cluster is too busy for what came first', { tags: 'long' }, async () => {
    const table = filled(60)
    // Each row changes once more, while the cluster refuses many of the documents at first.
    table.beforePage = page => {
      if (page !== 4) return
      for (let number = 1; number <= 60; number += 1) table.put(number, number + 1000)
    }
    lab.control.plant({ items: { status: 429, type: 'es_rejected_execution_exception', every: 2, times: 40 } })
    expect(await load([table], { batchDocs: 7, concurrency: 4 })).toMatchObject({ status: 'finished', rejected: 0 })
    expectStored(table)
  })

  test('is read whole into the fresh index of a guarded load, each time', async () => {
    const table = filled(30)
    const guarded = { swapAlias: `${index}-alias`, index: undefined, maxRejected: 0 }
    expect(await load([table], guarded)).toMatchObject({ read: 30, created: 30, alias: { switched: true } })
    table.put(31)
    const second = await load([table], guarded)
    expect(second).toMatchObject({ read: 31, created: 31, alias: { switched: true } })
    table.beforePage = page => {
      if (page === 3) throw new SluiceError(gaveUp)
    }
    const { receipt } = await stopped(load([table], guarded))
    expect(receipt?.alias?.switched).toBe(false)
    table.beforePage = () => undefined
    const third = await load([table], guarded)
    expect(third).toMatchObject({ run: receipt?.run, read: 31, alias: { switched: true, from: second.alias?.to } })
  })
})

describe('an option that does not fit a table', () => {
  const cases: readonly [string, Partial<IngestOptions>, RegExp][] = [
    ['ids of the run', { ids: 'run' }, /ids: is 'run': Sluice must find the document of a changed row/],
    ['ids of the cluster', { ids: 'cluster' }, /ids: is 'cluster'/],
    ['a file beside it', { source: ['servicenow:incident', 'a.ndjson'] }, /'a\.ndjson' cannot be loaded together/],
    ['a name that is none', { source: 'servicenow:a/b' }, /'servicenow:a\/b' is not a table/],
    ['no platform', { servicenow: undefined }, /servicenow: is needed for a table/],
    ['a path inside a JSON document', { pick: 'result' }, /pick: selects an array inside a JSON document/],
    ['a page of nothing', { table: { pageSize: 0 } }, /table\.pageSize: 0 is not a whole number from 1/],
    [
      'an id that is not read',
      { idField: 'number', table: { fields: ['state'] } },
      /idField: is 'number', which is not/,
    ],
    ['options of a table for a file', { source: 'a.ndjson', table: {} }, /table: needs a table/],
  ]
  test.each(cases)('%s', async (_, more, message) => {
    const run = ingestFrom(given([filled(1)], more), async () => await Promise.resolve(fakePlatform([])))
    expect(await stopped(run)).toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.stringMatching(message) as string,
    })
  })

  test('a data stream, which takes new documents alone', async () => {
    lab.control.createDataStream(index)
    const { code, message } = await stopped(load([filled(1)]))
    expect(code).toBe('OPTION_INVALID')
    expect(message).toMatch(/op: is 'index', but .* is a data stream/)
  })
})
