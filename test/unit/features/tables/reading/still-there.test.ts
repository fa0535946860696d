import { expect, test } from 'vitest'
import { failure, SluiceError } from '../../../../../src/base/failure/failure.js'
import type { Instance } from '../../../../../src/route/servicenow/instance.js'
import { stillThere } from '../../../../../src/features/tables/reading/list-ids.js'

const ids = Array.from({ length: 100 }, (_, n) => n.toString(16).padStart(32, '0'))
const { signal } = new AbortController()

interface Rows {
  readonly there: readonly string[]
  readonly hidden?: readonly string[]
  /** Whether it says how many there are, hidden ones too. */
  readonly counts?: boolean
  /** It gives up on lists of more ids than that. */
  readonly most?: number
}

function instance({ there, hidden = [], counts = true, most = Infinity }: Rows) {
  const asked: { readonly query: string; readonly ids: readonly string[] }[] = []
  const answering: Instance = {
    display: 'https://instance.example',
    call: async ({ query = {} }) => {
      const { sysparm_query: text = '' } = query
      const wanted = /sys_idIN([^^]*)/.exec(text)?.[1]?.split(',') ?? []
      asked.push({ query: text, ids: wanted })
      if (wanted.length > most) {
        const evidence = { instance: 'x', rows: wanted.length, table: 'incident', reason: 'too slow' }
        throw new SluiceError(failure('SERVICENOW_PAGE_TRUNCATED', evidence))
      }
      const shown = wanted.filter(id => there.includes(id))
      const total = shown.length + wanted.filter(id => hidden.includes(id)).length
      const headers = { date: new Date(0).toUTCString(), ...(counts ? { 'x-total-count': String(total) } : {}) }
      return await Promise.resolve({ status: 200, headers, result: shown.map(id => ({ sys_id: id })) })
    },
    [Symbol.asyncDispose]: async () => await Promise.resolve(),
  }
  return { answering, asked }
}

const look = async (rows: Rows, wanted = ids) => {
  const { answering, asked } = instance(rows)
  const found = await stillThere(answering, { table: 'incident', query: 'active=true^NQpriority=1' }, wanted, signal)
  return { found: [...found].toSorted(), asked }
}

test('rows that are shown are there, and a request names few enough for a request line', async () => {
  const there = ids.filter((_, n) => n % 3 === 0)
  const { found, asked } = await look({ there })
  expect(found).toEqual(there)
  expect(asked.flatMap(({ ids: some }) => some)).toEqual(ids)
  expect(Math.max(...asked.map(({ query }) => encodeURIComponent(query).length))).toBeLessThan(1800)
})

test('each part of the query is asked about these rows alone', async () => {
  const [one = ''] = ids
  const { asked } = await look({ there: [] }, [one])
  expect(asked.map(({ query }) => query)).toEqual([
    `active=true^sys_idIN${one}^NQpriority=1^sys_idIN${one}^ORDERBYsys_id`,
  ])
})

test('a row that is hidden is there, and those beside it are not', async () => {
  const hidden = [ids[7] ?? '', ids[8] ?? '', ids[99] ?? '']
  const { found, asked } = await look({ there: [ids[1] ?? ''], hidden })
  expect(found).toEqual([ids[1], ...hidden])
  expect(asked.length).toBeLessThan(40)
})

test('if rows are not counted, none is known to be gone', async () => {
  const { found } = await look({ there: [], counts: false }, ids.slice(0, 5))
  expect(found).toEqual(ids.slice(0, 5))
})

test('a request that the instance gives up on is sent in parts', async () => {
  const there = ids.slice(10, 30)
  expect((await look({ there, most: 6 })).found).toEqual(there)
})
