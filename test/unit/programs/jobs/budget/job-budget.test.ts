import { expect, test } from 'vitest'
import { BudgetShare } from '../../../../../src/programs/jobs/budget/budget-share.js'
import { JobBudget } from '../../../../../src/programs/jobs/budget/job-budget.js'
import { JobLog } from '../../../../support/load/job-log.js'
import { noSeal } from '../../../../../src/programs/jobs/queue/seal.js'

function logOf() {
  const log = new JobLog()
  const given = {
    control: log.asQueue,
    job: 'job',
    made: '',
    seal: noSeal,
    patient: async <T>(work: () => Promise<T>) => await work(),
  }
  return { rows: log.rows, budget: (limit: number, most = 4) => new JobBudget({ ...given, limit, most }) }
}

test('workers never take more together than the job has, and leave almost nothing', async () => {
  const { budget } = logOf()
  const workers = Array.from({ length: 4 }, () => budget(1_000_000))
  const open = new Set(workers)
  let total = 0
  while (open.size > 0)
    await Promise.all(
      [...open].map(async worker => {
        const taken = await worker.take(700, 700)
        total += taken
        if (taken === 0) open.delete(worker)
      }),
    )
  expect(total).toBeLessThanOrEqual(1_000_000)
  expect(total).toBeGreaterThan(1_000_000 - 4 * 700)
})

test('bytes that a worker leaves are there for others, and a killed worker leaves none', async () => {
  const { budget } = logOf()
  const [one, other] = [budget(1000, 1), budget(1000, 1)]
  expect(await one.take(900, 900)).toBe(900)
  expect(await other.take(200, 200)).toBe(0)
  expect(await other.take(200, 50)).toBe(100)
  one.give(600)
  expect(await other.take(200, 200)).toBe(0)
  await one.leave()
  expect(await other.take(600, 600)).toBe(600)
})

test('a job that is opened again has all of its bytes again', async () => {
  const { budget, rows } = logOf()
  const [one, other] = [budget(1000, 1), budget(1000, 1)]
  expect(await one.take(800, 800)).toBe(800)
  expect(await other.take(800, 800)).toBe(0)
  rows.length = 0
  expect(await other.take(700, 700)).toBe(700)
  // The row that this one has read last is another one now.
  expect(await one.take(700, 700)).toBe(0)
  expect(await one.take(300, 300)).toBe(300)
})

test('a row that an unsure queue has twice counts twice', async () => {
  const { budget, rows } = logOf()
  const [one, other] = [budget(1000, 1), budget(1000, 1)]
  await one.take(400, 400)
  rows.push(...rows)
  expect(await other.take(300, 300)).toBe(0)
  expect(await other.take(200, 200)).toBe(200)
})

test('a connection takes bytes before it sends, counts what it really used, and stops when the job has no more', async () => {
  const { budget } = logOf()
  const job = budget(100_000, 1)
  const traffic = { bytesSent: 0, bytesReceived: 0, connections: 0 }
  const share = await BudgetShare.open(job, 1)
  Object.assign(traffic, { bytesSent: 2000, bytesReceived: 3000, connections: 1 })
  share.opened({ traffic })
  const failures: string[] = []
  const limit = share.limit(why => failures.push(why().code))
  let used = 0
  for (;;) {
    const admission = await limit.admit({ items: 1, sent: 10_000, framed: 10_000 })
    if (admission === undefined) break
    traffic.bytesSent += 10_000
    used = traffic.bytesSent + traffic.bytesReceived
    expect(used).toBeLessThanOrEqual(100_000)
    admission.leave()
  }
  expect(used).toBeGreaterThan(70_000)
  expect(failures).toEqual(['BYTE_BUDGET_SPENT'])
  share.settle()
  expect(job.left).toBeLessThanOrEqual(100_000 - used)
  await expect(BudgetShare.open(job, 16)).rejects.toMatchObject({ code: 'BYTE_BUDGET_SPENT' })
})

test('a connection that fails costs what it carried, and gives back the rest', async () => {
  const { budget } = logOf()
  const [one, other] = [budget(1_000_000, 1), budget(1_000_000, 1)]
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const share = await BudgetShare.open(one, 16)
    share.watch({ traffic: { bytesSent: 300, bytesReceived: 200, connections: 1 } })
    share.close()
  }
  await one.leave()
  expect(await other.take(995_000, 995_000)).toBe(995_000)
  expect(await other.take(1, 1)).toBe(0)
})
