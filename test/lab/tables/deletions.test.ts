// @module-tag long
/** Rows that are deleted at the platform: their documents go with the next run, and no others. */
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { rounds } from '../../support/rounds.js'
import { eventually } from '../../support/eventually.js'
import { type IngestOptions, type Receipt, connect, ingest, isSluiceError } from '../../../src/index.js'
import { index, lab, path, shareLab, smallBatches, way } from '../../support/lab/shared-lab.js'

shareLab()

const sn = () => lab.control.servicenow

let tables = 0

afterEach(() => {
  sn().heal()
  sn().clearRules()
  sn().setClock(undefined)
})

/** A table of its own for a test. `hasClass`: it is one of a family of tables, and its rows say so. */
function newTable(rows: number, hasClass = true): string {
  tables += 1
  const table = `u_gone_${tables}`
  const sysClass = hasClass ? { sys_class_name: { type: 'string', initial: table } as const } : {}
  sn().createTable(table, { fields: { number: { type: 'string' }, state: { type: 'string' }, ...sysClass } })
  if (rows > 0) sn().seed(table, rows)
  return table
}

function options(table: string, more: Partial<IngestOptions> = {}): IngestOptions {
  const { url, username, password } = lab.line.servicenow
  const ca = readFileSync(lab.line.cluster.caFile)
  return {
    ...smallBatches(),
    batchDocs: 100,
    source: `servicenow:${table}`,
    servicenow: { url, username, password, ca, grant: 'basic' },
    table: { pageSize: 50 },
    ...more,
  }
}

async function load(table: string, more: Partial<IngestOptions> = {}): Promise<Receipt> {
  return await ingest(options(table, more))
}

async function reconcile(table: string, more: Partial<IngestOptions> = {}): Promise<Receipt> {
  return await load(table, { deletions: 'reconcile', ...more })
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

function ids(table: string): string[] {
  return sn()
    .rows(table)
    .map(({ sys_id: id }) => id)
}

const isStored = (id: string) => lab.control.source(index, id) !== undefined

/** The index holds the rows of these tables, and nothing else. */
function expectExact(...names: readonly string[]): void {
  const rows = names.flatMap(ids)
  expect(rows.filter(id => !isStored(id))).toEqual([])
  expect(lab.control.count(index)).toBe(rows.length)
}

/** Deletes some rows, from each place of the table; they are given back as they were. */
function deleteRows(table: string, count: number) {
  const all = sn().rows(table)
  const chosen = Array.from({ length: count }, (_, n) => all[Math.floor((n * all.length) / count)] ?? all[0]!)
  for (const { sys_id: id } of chosen) sn().delete(table, id)
  return chosen
}

async function store(id: string, document: object): Promise<void> {
  await using connected = await connect(way())
  await connected.client.index({ index, id, document })
}

/** Does something once a request for rows of the table came in. */
async function during(table: string, after: number, act: () => void): Promise<void> {
  const asked = () =>
    sn()
      .requests()
      .filter(({ path: asking }) => asking.endsWith(`/${table}`)).length
  const before = asked()
  await eventually(() => expect(asked()).toBeGreaterThan(before + after))
  act()
}

const kept = (more: Partial<Record<'there' | 'changed' | 'other', number>> = {}) => ({
  there: 0,
  changed: 0,
  other: 0,
  ...more,
})

describe('without a word about deletions', () => {
  test('documents stay, whatever happens to their rows', async () => {
    const table = newTable(20)
    await load(table)
    deleteRows(table, 5)
    expect(await load(table)).not.toHaveProperty('deletions')
    expect(lab.control.count(index)).toBe(20)
  })

  test.each([
    [{ deletions: 'reconcile', source: [], table: undefined }, 'deletions'],
    [{ deletions: 'reconcile', idField: 'number' }, 'deletions'],
    [{ maxDeleted: 3 }, 'maxDeleted'],
    [{ deletions: 'keep', reconcileEveryMs: 1000 }, 'reconcileEveryMs'],
  ] as const)('what makes no sense is refused: %j', async (more, option) => {
    const { code, message } = await stopped(load('incident', more))
    expect(code).toBe('OPTION_INVALID')
    expect(message).toContain(option)
  })
})

describe('before the first row is read', () => {
  test('credentials that may not delete are named', async () => {
    const table = newTable(20)
    const { url, caFile, leastPrivilegeApiKey: apiKey } = lab.line.cluster
    const least = { target: { url, apiKey, ca: readFileSync(caFile) }, index: `least-${index}` }
    const { code, message } = await stopped(reconcile(table, least))
    expect(code).toBe('CLUSTER_PRIVILEGE_MISSING')
    expect(message).toContain('cannot delete the documents of deleted rows without read')
    expect(lab.control.count(`least-${index}`)).toBe(0)
  })
})

describe('by reconciling', () => {
  test('documents go of which no row is there any more', async () => {
    const table = newTable(300)
    expect((await reconcile(table)).deletions).toEqual({
      mode: 'reconcile',
      compared: 300,
      deleted: 0,
      kept: kept(),
    })
    deleteRows(table, 25)
    sn().insert(table, { number: 'new' })
    const second = await reconcile(table)
    expect(second).toMatchObject({ read: 1, created: 1, deletions: { compared: 301, deleted: 25, kept: kept() } })
    expectExact(table)
  })

  test('rows that are deleted while the table is read leave nothing behind', async () => {
    const table = newTable(400)
    const run = reconcile(table)
    await during(table, 4, () => deleteRows(table, 30))
    expect(await run).toMatchObject({ status: 'finished' })
    await reconcile(table)
    expectExact(table)
  })

  test('a row that left the query has no business in the index any more', async () => {
    const table = newTable(100)
    const more = { table: { query: 'state!=closed', pageSize: 50 } }
    await reconcile(table, more)
    const closed = ids(table).slice(0, 7)
    for (const id of closed) sn().update(table, id, { state: 'closed' })
    expect((await reconcile(table, more)).deletions).toMatchObject({ deleted: 7 })
    expect(closed.some(isStored)).toBe(false)
    expect(lab.control.count(index)).toBe(93)
  })

  test('a document under an id that is no sys_id stays', async () => {
    const table = newTable(50)
    sn().restore(table, { ...sn().rows(table)[0]!, sys_id: 'irregular_row' })
    await reconcile(table)
    await store('settings', { theme: 'dark' })
    deleteRows(table, 3)
    sn().delete(table, 'irregular_row')
    const { deletions } = await reconcile(table)
    expect(deletions?.deleted).toBe(ids(table).length === 47 ? 3 : 2)
    expect(deletions?.kept).toEqual(kept({ other: 2 }))
    expect(['settings', 'irregular_row'].map(isStored)).toEqual([true, true])
  })

  test('more than a tenth of the documents are not deleted at once, unless it is allowed', async () => {
    const table = newTable(100)
    await reconcile(table)
    deleteRows(table, 11)
    const refused = await stopped(reconcile(table))
    expect(refused).toMatchObject({
      code: 'DELETIONS_TOO_MANY',
      receipt: { status: 'failed', deletions: { deleted: 0 } },
    })
    expect(refused.message).toContain('11 of 100 documents')
    expect(lab.control.count(index)).toBe(100)
    expect(await stopped(reconcile(table, { maxDeleted: 10 }))).toMatchObject({ code: 'DELETIONS_TOO_MANY' })
    expect((await reconcile(table, { maxDeleted: '11%' })).deletions).toMatchObject({ deleted: 11 })
    expectExact(table)
    sn()
      .rows(table)
      .forEach(({ sys_id: id }) => sn().delete(table, id))
    expect(await stopped(reconcile(table))).toMatchObject({ code: 'DELETIONS_TOO_MANY' })
    expect((await reconcile(table, { maxDeleted: '100%' })).deletions).toMatchObject({ deleted: 89 })
    expectExact(table)
  })

  test('rows that the user may no longer see keep their documents, however many they are', async () => {
    const table = newTable(100)
    await reconcile(table)
    const hidden = ids(table).slice(0, 50)
    for (const id of hidden) sn().update(table, id, { state: 'secret' })
    await reconcile(table)
    const gone = deleteRows(table, 8).map(({ sys_id: id }) => id)
    sn().addAcl({ table, query: 'state=secret' })
    expect(await stopped(reconcile(table))).toMatchObject({ code: 'DELETIONS_TOO_MANY' })
    expect(lab.control.count(index)).toBe(100)
    const { deletions } = await reconcile(table, { maxDeleted: '100%' })
    const left = hidden.filter(id => !gone.includes(id)).length
    expect(deletions).toMatchObject({ deleted: 8, kept: kept({ there: left }) })
    expectExact(table)
  })

  test('a table that may not be read any more is no empty one', async () => {
    const table = newTable(30)
    await reconcile(table)
    sn().addAcl({ table })
    const { code, receipt } = await stopped(reconcile(table, { maxDeleted: '100%' }))
    expect(code).toBe('SERVICENOW_ACCESS_DENIED')
    expect(receipt?.deletions).toMatchObject({ compared: 0, deleted: 0 })
    expectExact(table)
  })

  test('whichever request of a run fails, no document of a row is deleted, and the next run ends well', async () => {
    const table = newTable(120)
    await reconcile(table)
    const asked = async (run: Promise<unknown>) => {
      sn().forgetRequests()
      await run
      return sn().requests().length
    }
    const requests = await asked(reconcile(table, { maxDeleted: '100%' }))
    expect(requests).toBeGreaterThan(4)
    for (let after = 0; after < requests + 2; after += 1) {
      const [gone] = deleteRows(table, 1)
      const refusal = '{"error":{"message":"Insufficient rights","detail":""},"status":"failure"}'
      sn().plant({
        answer: { after, times: 1, status: 403, body: refusal, headers: { 'content-type': 'application/json' } },
      })
      const failed = await reconcile(table, { maxDeleted: '100%' }).then(
        () => false,
        (error: unknown) => isSluiceError(error),
      )
      expect(ids(table).filter(id => !isStored(id))).toEqual([])
      if (failed) expect(isStored(gone?.sys_id ?? '')).toBe(true)
      sn().heal()
      await reconcile(table)
      expectExact(table)
    }
  })

  test('an answer that the instance gave up on is asked for in smaller pages', async () => {
    const table = newTable(150)
    await reconcile(table)
    deleteRows(table, 12)
    sn().plant({ quota: { rows: 25 } })
    expect((await reconcile(table)).deletions).toMatchObject({ deleted: 12, kept: kept() })
    sn().heal()
    expectExact(table)
  })

  test('a run that is interrupted in its reading deletes nothing', async () => {
    const table = newTable(600)
    await reconcile(table)
    deleteRows(table, 20)
    const controller = new AbortController()
    const run = stopped(reconcile(table, { again: true, signal: controller.signal }))
    await during(table, 4, () => controller.abort('SIGTERM'))
    const { code, receipt } = await run
    expect(code).toBe('RUN_INTERRUPTED')
    expect(receipt?.deletions).toMatchObject({ compared: 0, deleted: 0 })
    expect(lab.control.count(index)).toBe(600)
    expect((await reconcile(table)).deletions).toMatchObject({ deleted: 20 })
    expectExact(table)
  })

  test('a deletion whose answer is lost is counted once, and one that hangs is ended by an interruption', async () => {
    const table = newTable(100)
    await reconcile(table)
    deleteRows(table, 4)
    lab.control.plant({ drop: { times: 1 } })
    expect((await reconcile(table)).deletions).toMatchObject({ deleted: 4, kept: kept() })
    expectExact(table)
    deleteRows(table, 4)
    lab.control.plant({ hold: {} })
    const controller = new AbortController()
    const run = stopped(reconcile(table, { signal: controller.signal, graceMs: 1 }))
    await eventually(() => expect(lab.control.struck('hold')).toBe(1))
    controller.abort('SIGTERM')
    expect(await run).toMatchObject({ code: 'RUN_INTERRUPTED', receipt: { status: 'interrupted' } })
    lab.control.heal()
    expect(lab.control.count(index)).toBe(100 - 4)
    expect((await reconcile(table)).deletions).toMatchObject({ deleted: 4 })
    expectExact(table)
  })

  test('an IP filter that shuts the way to the cluster is named', async () => {
    const table = newTable(60)
    await reconcile(table)
    deleteRows(table, 5)
    lab.control.plant({ filter: {} })
    expect(await stopped(reconcile(table))).toMatchObject({
      code: 'EGRESS_NOT_ALLOWED',
      receipt: { status: 'failed', deletions: { deleted: 0 } },
    })
    lab.control.heal()
    expect(lab.control.count(index)).toBe(60)
    expect((await reconcile(table)).deletions).toMatchObject({ deleted: 5 })
    expectExact(table)
  })

  test('a budget of bytes ends it, and the next run goes on', async () => {
    const table = newTable(60)
    await reconcile(table)
    deleteRows(table, 5)
    const codes: string[] = []
    for (let budget = 40_000; ; budget += rounds(120_000, 10_000)) {
      const ended = await reconcile(table, { byteBudget: budget }).then(
        () => 'finished',
        (error: unknown) => (isSluiceError(error) ? error.code : String(error)),
      )
      codes.push(ended)
      expect(ids(table).filter(id => !isStored(id))).toEqual([])
      if (ended === 'finished') break
    }
    expect(codes).toContain('BYTE_BUDGET_SPENT')
    expect(codes.filter(code => !['OPTION_INVALID', 'BYTE_BUDGET_SPENT', 'finished'].includes(code))).toEqual([])
    expectExact(table)
  })

  test('a busy cluster is asked again', async () => {
    const table = newTable(60)
    await reconcile(table)
    deleteRows(table, 5)
    lab.control.plant({
      lookup: { times: 3, status: 503, body: '{"error":{"type":"busy","reason":"y"},"status":503}' },
      items: { times: 2, status: 429, type: 'es_rejected_execution_exception' },
    })
    expect((await reconcile(table)).deletions).toMatchObject({ deleted: 5 })
    expectExact(table)
  })
})

describe('an index of several tables', () => {
  test('that one command loads is compared with all of them', async () => {
    const [one, other] = [newTable(60), newTable(40)]
    const more = { source: [`servicenow:${one}`, `servicenow:${other}`] }
    await reconcile(one, more)
    deleteRows(one, 4)
    deleteRows(other, 3)
    expect((await reconcile(one, more)).deletions).toMatchObject({ compared: 100, deleted: 7, kept: kept() })
    expectExact(one, other)
  })

  test('that two commands load is not reconciled with one of them', async () => {
    const [one, other] = [newTable(60), newTable(3)]
    await load(other)
    const refused = await stopped(reconcile(one))
    expect(refused.code).toBe('DELETIONS_INDEX_SHARED')
    expect(refused.message).toContain(`servicenow:${other}`)
    expect(lab.control.count(index)).toBe(3)
  })

  test('that was made anew since is another one', async () => {
    const [one, other] = [newTable(20), newTable(3)]
    await load(other)
    {
      await using connected = await connect(way())
      await connected.client.indices.delete({ index })
    }
    await reconcile(one)
    deleteRows(one, 2)
    expect((await reconcile(one)).deletions).toMatchObject({ deleted: 2 })
    expectExact(one)
  })

  test('of which the state folder knows nothing loses no document that says another class', async () => {
    const [one, other] = [newTable(100), newTable(4)]
    await load(other, { stateDir: path('elsewhere') })
    await reconcile(one)
    deleteRows(one, 5)
    expect((await reconcile(one)).deletions).toMatchObject({ deleted: 5, kept: kept({ other: 4 }) })
    expectExact(one, other)
  })

  test('nor one that says none where rows of the table have one', async () => {
    const [one, other] = [newTable(100), newTable(4, false)]
    await load(other, { stateDir: path('elsewhere') })
    deleteRows(one, 5)
    expect((await reconcile(one)).deletions).toMatchObject({ deleted: 0, kept: kept({ other: 4 }) })
    expectExact(one, other)
  })

  test('of two selections of one table is not reconciled with one of them', async () => {
    const table = newTable(60)
    for (const id of ids(table).slice(0, 20)) sn().update(table, id, { state: '7' })
    await load(table, { table: { query: 'state=7' }, runId: 'seven' })
    const refused = await stopped(reconcile(table, { table: { query: 'state!=7' }, runId: 'others' }))
    expect(refused.code).toBe('DELETIONS_INDEX_SHARED')
  })
})

describe('when nothing is to be compared', () => {
  test('an interval is kept between two comparisons, unless all was read', async () => {
    const table = newTable(30)
    const more = { reconcileEveryMs: 3_600_000 }
    expect((await reconcile(table, more)).deletions).toMatchObject({ compared: 30 })
    deleteRows(table, 2)
    const { deletions } = await reconcile(table, more)
    expect(deletions).toMatchObject({
      compared: 0,
      deleted: 0,
      skipped: expect.stringContaining('compares it again after') as string,
    })
    expect((await reconcile(table, { ...more, again: true })).deletions).toMatchObject({ deleted: 2 })
    expectExact(table)
  })

  test('a guarded load has an index without them', async () => {
    const table = newTable(30)
    const more = { index: undefined, swapAlias: index }
    await reconcile(table, more)
    deleteRows(table, 20)
    const { deletions, created } = await reconcile(table, more)
    expect(created).toBe(10)
    expect(deletions).toMatchObject({ compared: 0, deleted: 0, skipped: expect.any(String) as string })
  })

  test('a dry run deletes nothing', async () => {
    const table = newTable(30)
    await reconcile(table)
    deleteRows(table, 2)
    expect(await reconcile(table, { dryRun: true })).not.toHaveProperty('deletions')
    expect(lab.control.count(index)).toBe(30)
  })
})
