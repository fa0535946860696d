import { describe, expect, test } from 'vitest'
import type { Place, Source } from '../../../../../src/base/flow.js'
import { type TableSourceOptions, tableSource } from '../../../../../src/features/tables/reading/table-source.js'
import { FakeInstance, type FakeRow, idOf } from '../../../../support/servers/fake-instance.js'

const MINUTE = 60_000

interface Line extends FakeRow {
  readonly sys_id: string
  readonly sys_updated_on: string
}

function sourceOf(instance: FakeInstance, options: Partial<TableSourceOptions> = {}): Source {
  return tableSource(instance, { id: 0, table: 'incident', pageSize: 10, ...options })
}

async function read(source: Source, place?: Place): Promise<Line[]> {
  const chunks: Uint8Array[] = []
  for await (const chunk of source.open(new AbortController().signal, 0, place)) chunks.push(Buffer.from(chunk))
  const lines = Buffer.concat(chunks).toString('utf8').split('\n')
  return lines.slice(0, -1).map(line => JSON.parse(line) as Line)
}

function placesOf(source: Source) {
  if (source.cursor === undefined) throw new Error('the source is no table')
  return source.cursor
}

/** A table whose rows were made long before. */
function tableOf(count: number, spreadMs = 1000): FakeInstance {
  const instance = new FakeInstance()
  const now = instance.now
  instance.now -= 24 * 60 * MINUTE
  for (let number = 1; number <= count; number++) {
    instance.insert(idOf(number * 16), { number: `INC${number}`, state: String(number % 3) })
    instance.now += spreadMs
  }
  instance.now = now
  return instance
}

const ids = (rows: readonly Line[]) => rows.map(({ sys_id: id }) => id)

/** The last version of each row, as an index would hold it. */
function indexed(rows: readonly Line[]): Map<string, Line> {
  return new Map(rows.map(row => [row.sys_id, row]))
}

describe('reading a whole table', () => {
  test('gives every row once, in the order of sys_id', async () => {
    const instance = tableOf(95)
    const source = sourceOf(instance)
    expect(ids(await read(source))).toEqual([...instance.rows.keys()])
    expect(source.cursor?.total).toBe(95)
  })

  test(
    'goes on behind a page of hidden rows, and behind more of them than a page of keys holds',
    { tags: 'long' },
    async () => {
      const instance = tableOf(26_000, 1)
      const visible = [3, 14, 25_990, 25_999]
      const shown = new Set(visible.map(number => idOf(number * 16)))
      for (const id of instance.rows.keys()) if (!shown.has(id)) instance.hidden.add(id)
      expect(ids(await read(sourceOf(instance)))).toEqual([...shown])
    },
  )

  test('goes on behind hidden rows where the instance gives up on pages of many keys', async () => {
    const instance = tableOf(6000, 1)
    const last = idOf(6000 * 16)
    for (const id of instance.rows.keys()) if (id !== last) instance.hidden.add(id)
    instance.mostRows = 1500
    instance.before = call => {
      if (call > 100) throw new Error('it asks for ever')
    }
    expect(ids(await read(sourceOf(instance)))).toEqual([last])
  })

  test('reads what others insert and change, and what they leave, exactly', async () => {
    const instance = tableOf(200)
    const before = new Set(instance.rows.keys())
    let made = 0
    instance.before = call => {
      instance.now += 2000
      if (call < 3 || call > 15) return
      instance.insert(idOf(made++ * 320 + 1))
      instance.insert(idOf(1_000_000 + made))
      instance.update(idOf(16 * (made * 12 + 3)))
      instance.rows.delete(idOf(16 * (made * 12 + 7)))
    }
    const rows = await read(sourceOf(instance))
    const index = indexed(rows)
    for (const [id, row] of instance.rows) expect(index.get(id)).toEqual(row)
    for (const id of index.keys()) if (!instance.rows.has(id)) expect(before).toContain(id)
    const versions = rows.map(row => `${row.sys_id} ${row.sys_mod_count}`)
    expect(new Set(versions).size).toBe(versions.length)
  })

  test('gives each row one time where that is asked for, with those that were inserted behind its back', async () => {
    const instance = tableOf(200)
    let made = 0
    instance.before = call => {
      instance.now += 2000
      if (call < 3 || call > 15) return
      instance.insert(idOf(made++ * 320 + 1))
      instance.update(idOf(16 * (made * 12 + 3)))
    }
    const rows = await read(sourceOf(instance, { mode: 'once' }))
    expect(ids(rows).toSorted()).toEqual([...instance.rows.keys()].toSorted())
  })

  test('asks for half where the instance gives up on a page', async () => {
    const instance = tableOf(95)
    instance.mostRows = 20
    expect(ids(await read(sourceOf(instance, { pageSize: 64 })))).toEqual([...instance.rows.keys()])
  })

  test('names a page of one row that the instance gives up on', async () => {
    const instance = tableOf(95)
    instance.before = call => (instance.mostRows = call > 1 ? 0 : Infinity)
    const failure = { code: 'SERVICENOW_PAGE_TRUNCATED', evidence: { rows: 1 } }
    await expect(read(sourceOf(instance))).rejects.toMatchObject({ failure })
  })

  test('stops where the platform leaves out the cursor or the order', async () => {
    const failure = { code: 'SERVICENOW_QUERY_IGNORED' }
    const deaf = tableOf(95)
    deaf.before = call => call === 3 && deaf.unknown.add('sys_id')
    await expect(read(sourceOf(deaf))).rejects.toMatchObject({ failure })
    const unordered = new FakeInstance()
    for (const number of [9, 3, 7, 1]) unordered.insert(idOf(number))
    unordered.ignoresOrder = true
    await expect(read(sourceOf(unordered))).rejects.toMatchObject({ failure })
  })
})

describe('the requests for a table', () => {
  test.each([
    ['a field that it does not have', { query: 'actve=true^state=1' }, 'actve=true'],
    ['an operator that the platform does not know', { query: 'state=1^numberBEGINSINC' }, 'numberBEGINSINC'],
    ['a field to give out that it does not have', { fields: ['number', 'short'] }, 'the field short'],
  ])('is refused before reading where it names %s', async (_, options, part) => {
    const instance = tableOf(20)
    const reading = async () => await read(sourceOf(instance, options))
    await expect(reading()).rejects.toMatchObject({ failure: { code: 'SERVICENOW_QUERY_IGNORED', evidence: { part } } })
    expect(instance.calls.length).toBeLessThan(2)
  })

  test('is noticed to be left out by the rows that come', async () => {
    const instance = tableOf(20)
    instance.unknown.add('state')
    const failure = { code: 'SERVICENOW_QUERY_IGNORED', evidence: { part: 'state=1' } }
    await expect(read(sourceOf(instance, { query: 'state=1' }))).rejects.toMatchObject({ failure })
  })

  test('cannot be checked where the table shows no row, and that is said', async () => {
    const notes: string[] = []
    const source = sourceOf(new FakeInstance(), { query: 'actve=true', note: note => notes.push(note) })
    expect(await read(source)).toEqual([])
    expect(notes[0]).toContain('cannot check the query')
  })

  test('may be in parts: each has the cursor', async () => {
    const instance = tableOf(100)
    const rows = await read(sourceOf(instance, { query: 'state=1^ORstate=2^NQnumber=INC99^EQ' }))
    expect(ids(rows)).toEqual(
      [...instance.rows.values()].filter(row => row.state !== '0' || row.number === 'INC99').map(row => row.sys_id),
    )
  })

  test('may not have an order of its own', () => {
    const failure = { code: 'OPTION_INVALID' }
    expect(() => sourceOf(new FakeInstance(), { query: 'state=1^ORDERBYnumber' })).toThrow(
      expect.objectContaining({ failure: expect.objectContaining(failure) }),
    )
  })

  test('comes with sys_id and without what was only needed to read it', async () => {
    const [row] = await read(sourceOf(tableOf(5), { fields: ['number'] }))
    expect(row).toEqual({ sys_id: idOf(16), number: 'INC1' })
  })

  test('comes as it is displayed, read by what is stored', async () => {
    const [row] = await read(sourceOf(tableOf(15), { fields: ['number'], displayValue: 'true' }))
    expect(row).toEqual({ sys_id: idOf(16), number: 'shown INC1' })
    const [both] = await read(sourceOf(tableOf(15), { fields: ['number'], displayValue: 'all' }))
    expect(both?.number).toEqual({ display_value: 'shown INC1', value: 'INC1' })
  })
})

describe('places', () => {
  test('go on behind every row of a reading: nothing is lost, and only what was given out behind it comes', async () => {
    const make = () => {
      const instance = tableOf(60)
      instance.before = call => {
        instance.now += 1000
        if (call === 4) for (const number of [5, 90]) instance.insert(idOf(number))
        if (call === 5) for (const number of [1, 2, 3]) instance.update(idOf(number * 16))
      }
      return instance
    }
    const all = await read(sourceOf(make()))
    for (let number = 1; number <= all.length + 1; number++) {
      const instance = make()
      const source = sourceOf(instance)
      const begun = await read(source)
      const place = placesOf(source).placeAt(number)
      const kept = JSON.parse(JSON.stringify(place)) as Place
      const rest = await read(sourceOf(instance), kept)
      const index = indexed([...begun.slice(0, number - 1), ...rest])
      expect([...index.values()].toSorted((a, b) => (a.sys_id < b.sys_id ? -1 : 1))).toEqual(
        [...instance.rows.values()].toSorted((a, b) => ((a.sys_id ?? '') < (b.sys_id ?? '') ? -1 : 1)),
      )
      const versions = [...begun.slice(0, number - 1), ...rest].map(row => `${row.sys_id} ${row.sys_mod_count}`)
      expect(new Set(versions).size).toBe(versions.length)
    }
  })

  test('lead from one run to the next, which moves only what changed', async () => {
    const instance = tableOf(100)
    const source = sourceOf(instance)
    const first = await read(source)
    const next = placesOf(source).after(placesOf(source).placeAt(first.length + 1))
    instance.now += 5 * MINUTE
    for (const number of [3, 50]) instance.update(idOf(number * 16))
    instance.insert(idOf(7))
    const second = await read(source, next)
    expect(ids(second)).toEqual([idOf(7), idOf(48), idOf(800)])
    const again = placesOf(source).after(placesOf(source).placeAt(second.length + 1))
    expect(await read(source, again)).toEqual([])
    instance.now += 5 * MINUTE
    expect(await read(source, placesOf(source).after(placesOf(source).placeAt(1)))).toEqual([])
  })

  test.each([
    ['all rows of a page', 0],
    ['all rows of a page that are not hidden', 30],
  ])('pass no change by because %s changed while it was put together', async (_, hidden) => {
    const instance = tableOf(20)
    const source = sourceOf(instance)
    const first = await read(source)
    const index = indexed(first)
    let next = placesOf(source).after(placesOf(source).placeAt(first.length + 1))
    instance.now += 10 * MINUTE
    for (let number = 1; number <= 10; number++) {
      instance.update(idOf(number * 16), { state: 'changed' })
      for (let more = 1; more <= (number === 2 ? hidden : 0); more++) {
        instance.insert(idOf(10_000 + more))
        instance.hidden.add(idOf(10_000 + more))
      }
      instance.now += 1000
    }
    instance.now += 10 * MINUTE
    instance.during = rows => {
      if (rows.find(row => !instance.hidden.has(row.sys_id ?? ''))?.sys_id !== idOf(48)) return
      instance.now += 1000
      instance.update(idOf(48))
      instance.during = () => undefined
    }
    for (let reading = 0; reading < 2; reading++) {
      const slow = sourceOf(instance, { pageSize: 1 })
      const rows = await read(slow, next)
      for (const row of rows) index.set(row.sys_id, row)
      next = placesOf(slow).after(placesOf(slow).placeAt(rows.length + 1))
      instance.now += 10 * MINUTE
    }
    const visible = [...instance.rows.values()].filter(row => !instance.hidden.has(row.sys_id ?? ''))
    expect([...index.values()]).toEqual(visible)
  })

  test('tell where no time of a change is shown: it may be hidden from the user', async () => {
    const instance = tableOf(10)
    for (const row of instance.rows.values()) delete row.sys_updated_on
    const notes: string[] = []
    expect(await read(sourceOf(instance, { note: note => notes.push(note) }))).toHaveLength(10)
    expect(notes).toEqual([expect.stringContaining('have no sys_updated_on')])
    expect(await read(sourceOf(instance, { mode: 'once', note: note => notes.push(note) }))).toHaveLength(10)
    expect(notes).toHaveLength(1)
  })

  test('tell where the clock of the instance went back: what has an older time now is not asked for', async () => {
    const instance = tableOf(10)
    instance.update(idOf(16))
    instance.now += 5 * MINUTE
    const notes: string[] = []
    const source = sourceOf(instance, { note: note => notes.push(note) })
    const first = await read(source)
    const next = placesOf(source).after(placesOf(source).placeAt(first.length + 1))
    expect(notes).toEqual([])
    instance.now -= 60 * MINUTE
    await read(source, next)
    expect(notes).toEqual([expect.stringContaining('went back from 2026-11-21 12:00:00 to 2026-11-21 11:05:00')])
  })

  test('lose no change of a second of which a row was given out, where the user may not read sys_mod_count', async () => {
    const instance = tableOf(10)
    instance.update(idOf(16), { state: 'read' })
    for (const row of instance.rows.values()) delete row.sys_mod_count
    const source = sourceOf(instance)
    const first = await read(source)
    const next = placesOf(source).after(placesOf(source).placeAt(first.length + 1))
    const row = instance.rows.get(idOf(16))
    instance.rows.set(idOf(16), { ...row, state: 'changed in the same second' })
    instance.now += 5 * MINUTE
    expect(await read(source, next)).toMatchObject([{ sys_id: idOf(16), state: 'changed in the same second' }])
  })

  test('do not repeat thousands of rows of one second', { tags: 'long' }, async () => {
    const instance = tableOf(0)
    for (let number = 1; number <= 25_000; number++) instance.insert(idOf(number))
    instance.now += 10 * MINUTE
    const source = sourceOf(instance, { pageSize: 1000 })
    const first = await read(source)
    const next = placesOf(source).after(placesOf(source).placeAt(first.length + 1))
    for (let number = 1; number <= 3000; number++) instance.update(idOf(number * 2))
    const second = await read(source, next)
    expect(second).toHaveLength(3000)
  })

  test('of another shape are refused', async () => {
    const failure = { code: 'STATE_UNREADABLE' }
    await expect(read(sourceOf(tableOf(1)), { v: 9, kind: 'whole' })).rejects.toMatchObject({ failure })
  })
})
