// @module-tag long
/** The rows of a table, as they are read through the proxy while others use it. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Place, Source } from '../../../src/base/flow.js'
import { type PullOptions, type ServiceNowOptions, pull } from '../../../src/servicenow.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { openServiceNow } from '../../../src/route/connect/open-servicenow.js'
import type { Instance } from '../../../src/route/servicenow/instance.js'
import { type TableSourceOptions, tableSource } from '../../../src/features/tables/reading/table-source.js'

interface Row extends Readonly<Record<string, unknown>> {
  readonly sys_id: string
  readonly sys_mod_count: string
}

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

let sn: Lab['control']['servicenow']
beforeEach(() => {
  sn = lab.control.servicenow
  sn.heal()
  sn.clearRules()
  sn.setClock(undefined)
  sn.setInvalidQueryMeansNothing(false)
})

let tables = 0
/** A table of its own, filled with rows that are years old. */
function tableOf(rows: number, spacingSeconds = 60): string {
  const name = `u_table_${++tables}`
  sn.createTable(name, { fields: { number: { type: 'string' }, state: { type: 'integer', initial: '1' } } })
  sn.seed(name, rows, { spacingSeconds })
  return name
}

function access(): ServiceNowOptions {
  const { url, username, password, clientId, clientSecret } = lab.line.servicenow
  return { url, username, password, clientId, clientSecret, ca: readFileSync(lab.line.cluster.caFile) }
}

const idsOf = (rows: readonly Readonly<Record<string, unknown>>[]) => rows.map(row => String(row['sys_id'])).toSorted()
const idsIn = (table: string, query?: string) =>
  sn
    .rows(table, query)
    .map(({ sys_id: id }) => id)
    .toSorted()

async function pulled(table: string, more: Partial<PullOptions> = {}): Promise<Row[]> {
  const rows: Row[] = []
  const options = { servicenow: access(), proxy: lab.line.proxy.http, preflightConnections: 1, pageSize: 500, table }
  for await (const row of pull({ ...options, ...more })) rows.push(row as Row)
  return rows
}

/** The instance through the proxy; `before` runs between its answers. */
async function opened(before: (call: number) => void = () => undefined): Promise<Instance> {
  const instance = await openServiceNow({ servicenow: access(), proxy: lab.line.proxy.http })
  let calls = 0
  return {
    display: instance.display,
    call: async request => {
      before(++calls)
      return await instance.call(request)
    },
    [Symbol.asyncDispose]: async () => await instance[Symbol.asyncDispose](),
  }
}

async function read(source: Source, place?: Place): Promise<Row[]> {
  const rows: Row[] = []
  for await (const chunk of source.open(new AbortController().signal, 0, place)) {
    const lines = Buffer.from(chunk).toString('utf8').trimEnd().split('\n')
    rows.push(...lines.map(line => JSON.parse(line) as Row))
  }
  return rows
}

function sourceOf(instance: Instance, table: string, more: Partial<TableSourceOptions> = {}): Source {
  return tableSource(instance, { id: 0, table, pageSize: 500, ...more })
}

function placesOf({ cursor }: Source) {
  if (cursor === undefined) throw new Error('the source is no table')
  return cursor
}

const pairs = (rows: readonly Row[]) => rows.map(row => `${row.sys_id} ${row.sys_mod_count}`)

describe('a pull', () => {
  test('gives every row that the user may see, whatever is hidden between them', async () => {
    const table = tableOf(6000)
    const rows = sn.rows(table).toSorted((a, b) => (a['sys_id'] < b['sys_id'] ? -1 : 1))
    // Nine in ten, and a stretch that is longer than the largest page that is looked through.
    const visible = rows.filter((_, at) => at % 10 === 3 && (at < 1000 || at > 4000))
    for (const { sys_id: id } of visible) sn.update(table, id, { state: '7' })
    sn.addAcl({ table, query: 'state!=7' })
    expect(idsOf(await pulled(table, { pageSize: 100 }))).toEqual(idsOf(visible))
    sn.addAcl({ table, query: 'state=7' })
    expect(await pulled(table)).toEqual([])
  })

  test.each(['malformed', 'valid'] as const)('asks for less where pages are given up (%s JSON)', async json => {
    const table = tableOf(1500)
    sn.plant({ quota: { rows: 70, json } })
    expect(idsOf(await pulled(table))).toEqual(idsIn(table))
    expect(sn.struck('quota')).toBeLessThan(12)
    sn.plant({ quota: { rows: 0, json } })
    await expect(pulled(table)).rejects.toMatchObject({ code: 'SERVICENOW_PAGE_TRUNCATED' })
  })

  test.each([
    ['a page that is not full', 250, '', [true, false, false, true]],
    ['a full page', 300, '', [true, false, false, false, true]],
    // The platform hides the rows of the third page. Without a count, that would look like the end.
    ['pages that are hidden', 500, 'state=7', [true, false, false, true, true, false, false, true]],
  ])('has the platform count rows only where Sluice needs that: %s', async (_, rows, hidden, counted) => {
    const table = tableOf(0)
    for (let n = 0; n < rows; n++) {
      const state = n >= 200 && n < 300 ? '7' : '1'
      sn.restore(table, { sys_id: String(n).padStart(32, '0'), state, sys_updated_on: '2020-01-01 00:00:00' })
    }
    if (hidden !== '') sn.addAcl({ table, query: hidden })
    sn.forgetRequests()
    expect(await pulled(table, { pageSize: 100 })).toHaveLength(hidden === '' ? rows : rows - 100)
    const walked = sn
      .requests()
      .filter(
        ({ query }) => query['sysparm_query']?.endsWith('ORDERBYsys_id') === true && query['sysparm_limit'] === '100',
      )
    const whole = walked.filter(({ query }) => !query['sysparm_query']?.includes('sys_updated_on'))
    expect(whole.map(({ query }) => query['sysparm_no_count'] !== 'true')).toEqual(counted)
  })

  test('goes on when the token has expired between two pages', async () => {
    const table = tableOf(3000)
    const { clientId } = lab.line.servicenow
    sn.changeClient(clientId, { accessTokenSeconds: 5 })
    await using instance = await opened(() => sn.advanceClock(6000))
    expect(idsOf(await read(sourceOf(instance, table, { mode: 'once' })))).toEqual(idsIn(table))
    const tokens = sn.requests().filter(({ path }) => path.includes('oauth_token'))
    expect(tokens.length).toBeGreaterThan(5)
  })

  test.each([
    ['a field', { query: 'state=1^actve=true' }, { part: 'actve=true' }],
    ['a field behind a reference', { query: 'u_no.name=x' }, { part: 'u_no.name=x' }],
    ['an operator', { query: 'stateWITHIN1' }, { part: 'stateWITHIN1' }],
    ['a field to give out', { fields: ['number', 'nmuber'] }, { part: 'the field nmuber' }],
  ])('refuses a query with %s that is not there, also where it would mean no row', async (_, options, evidence) => {
    const table = tableOf(10)
    const code = 'SERVICENOW_QUERY_IGNORED'
    await expect(pulled(table, options)).rejects.toMatchObject({ code, failure: { evidence } })
    sn.setInvalidQueryMeansNothing(true)
    await expect(pulled(table, options)).rejects.toMatchObject({ code, failure: { evidence } })
  })

  test('names a table that is not there, and one that may not be read', async () => {
    await expect(pulled('u_none')).rejects.toMatchObject({ code: 'SERVICENOW_TABLE_UNKNOWN' })
    const table = tableOf(10)
    sn.addAcl({ table, operations: ['read'] })
    await expect(pulled(table)).rejects.toMatchObject({ code: 'SERVICENOW_ACCESS_DENIED' })
  })

  test('takes alternatives, fields behind references and displayed values', async () => {
    sn.seed('incident', 400)
    const rows = await pulled('incident', {
      query: 'state=1^ORstate=2^priority<=2^NQstate=7',
      fields: ['number', 'state', 'caller_id.name'],
      displayValue: 'true',
      pageSize: 30,
    })
    expect(idsOf(rows)).toEqual(idsIn('incident', 'state=1^ORstate=2^priority<=2^NQstate=7'))
    expect(Object.keys(rows[0] ?? {}).toSorted()).toEqual(['caller_id.name', 'number', 'state', 'sys_id'])
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['New', 'In Progress', 'Closed']))
  })
})

describe('a table that others change while it is read', () => {
  /** Every answer is followed by what others do: rows come, change and go before the cursor and behind it. */
  function others(table: string, until: number) {
    const ids = sn.rows(table).map(({ sys_id: id }) => id)
    const deleted = new Set<string>()
    const made: string[] = []
    let next = 0
    return {
      deleted,
      made,
      ids,
      act: (call: number) => {
        if (call < 2 || call > until) return
        for (let i = 0; i < 5; i++) {
          made.push(sn.insert(table, { number: `N${made.length}` })['sys_id'])
          sn.update(table, ids[next++] ?? '', { state: '2' })
          const gone = ids[next++] ?? ''
          sn.delete(table, gone)
          deleted.add(gone)
        }
        const again = made.at(-1) ?? ''
        sn.update(table, again, { state: '3' })
      },
    }
  }

  test('comes once, row by row: all that stay, and all that came', async () => {
    const table = tableOf(5000)
    const { act, deleted, ids } = others(table, 15)
    await using instance = await opened(act)
    const rows = await read(sourceOf(instance, table, { mode: 'once' }))
    const seen = new Set(idsOf(rows))
    expect(seen.size).toBe(rows.length)
    expect(idsIn(table).filter(id => !seen.has(id))).toEqual([])
    expect([...seen].filter(id => sn.row(table, id) === undefined && !deleted.has(id))).toEqual([])
    expect(ids.length).toBe(5000)
  })

  test('comes in its last version, where the last one counts', async () => {
    const table = tableOf(5000)
    const { act, deleted } = others(table, 15)
    await using instance = await opened(act)
    const rows = await read(sourceOf(instance, table))
    expect(new Set(pairs(rows)).size).toBe(rows.length)
    const index = new Map(rows.map(row => [row.sys_id, row]))
    for (const row of sn.rows(table)) expect(index.get(row['sys_id'])).toEqual(row)
    for (const id of index.keys()) expect(sn.row(table, id) !== undefined || deleted.has(id)).toBe(true)
  })

  test('goes on at any place of a reading as if it had not stopped', async () => {
    const table = tableOf(600)
    const { act } = others(table, 8)
    await using instance = await opened(act)
    const source = sourceOf(instance, table, { pageSize: 100 })
    const rows = await read(source)
    const places = rows.map((_, at) => placesOf(source).placeAt(at + 2))
    const end = Object.fromEntries(sn.rows(table).map(row => [row['sys_id'], row]))
    const gone = new Set(rows.map(row => row.sys_id).filter(id => !(id in end)))
    for (let at = 0; at < rows.length; at += 13) {
      const rest = await read(sourceOf(instance, table, { pageSize: 250 }), places[at])
      const all = [...rows.slice(0, at + 1), ...rest]
      expect(new Set(pairs(all)).size).toBe(all.length)
      const index = Object.fromEntries(all.filter(({ sys_id: id }) => !gone.has(id)).map(row => [row.sys_id, row]))
      expect(index).toEqual(end)
    }
  })
})

describe('changes since the last reading', () => {
  test('is all that is read, also where thousands of rows changed in one second', async () => {
    const table = tableOf(6000)
    await using instance = await opened()
    const source = sourceOf(instance, table, { pageSize: 700 })
    const first = await read(source)
    expect(first).toHaveLength(6000)
    const places = placesOf(source)
    const next = places.after(places.placeAt(first.length + 1))
    const now = new Date(sn.now() + 600_000).toISOString().slice(0, 19).replace('T', ' ')
    sn.setClock(now, true)
    const changed = idsIn(table).filter((_, at) => at % 6 < 5)
    for (const id of changed) sn.update(table, id, { state: '3' })
    const second = await read(source, next)
    expect(idsOf(second)).toEqual(changed)
    const half = places.placeAt(2501)
    const done = places.placeAt(second.length + 1)
    expect(idsOf([...second.slice(0, 2500), ...(await read(source, half))])).toEqual(changed)
    expect(await read(source, places.after(done))).toEqual([])
    sn.advanceClock(30_000)
    sn.update(table, changed[0] ?? '', { state: '4' })
    sn.insert(table, { number: 'NEW' })
    const third = await read(source, places.after(done))
    expect(third.map(({ state, number }) => [state, number])).toEqual(
      expect.arrayContaining([
        ['4', expect.anything()],
        ['1', 'NEW'],
      ]),
    )
    expect(third).toHaveLength(2)
  })
})
