import { expect, test } from 'vitest'
import { BudgetShare } from '../../../../../src/programs/jobs/budget/budget-share.js'
import { JobBudget } from '../../../../../src/programs/jobs/budget/job-budget.js'
import { PlanBook } from '../../../../../src/programs/jobs/budget/plan-book.js'
import { withinBoth } from '../../../../../src/programs/jobs/budget/shared-bytes.js'
import { noSeal } from '../../../../../src/programs/jobs/queue/seal.js'
import { JobLog, PlanLogs } from '../../../../support/load/job-log.js'

const NOVEMBER = Date.UTC(2026, 10, 29, 12)
const DECEMBER = Date.UTC(2026, 11, 1, 0, 5)

const jobBudget = () =>
  new JobBudget({
    control: new JobLog().asQueue,
    job: 'job',
    made: '',
    seal: noSeal,
    patient,
    most: 1,
    limit: 10_000_000,
  })

const patient = async <T>(work: () => Promise<T>) => await work()

function planOf(plan: number, planLimit: 'report' | 'stop' | { slow: number } = 'stop') {
  const logs = new PlanLogs()
  const clock = { now: NOVEMBER }
  const book = (bytes = plan, account = 'user one') =>
    new PlanBook({
      engine: logs.asEngine,
      account,
      traffic: { plan: bytes, planDay: 1, planLimit },
      patient,
      now: () => clock.now,
    })
  return { logs, clock, book }
}

test('workers never take more of a plan together than it has, whoever is killed in between', async () => {
  const { book } = planOf(1_000_000)
  const workers = Array.from({ length: 4 }, () => book())
  let sent = 0
  let kills = 0
  for (let turn = 0; turn < 10_000; turn += 1) {
    const at = turn % workers.length
    // A worker that was killed comes back, and knows nothing.
    if (turn % 97 === 96) {
      workers[at] = book()
      kills += 1
    }
    const taken = (await workers[at]?.take(700, 300)) ?? 0
    sent += taken
    if (taken === 0 && (await book().take(300, 300)) === 0) break
  }
  expect(kills).toBeGreaterThan(5)
  expect(sent).toBeLessThanOrEqual(1_000_000)
  // What a kill wastes is a ten-thousandth of the plan.
  expect(sent).toBeGreaterThan(1_000_000 - (kills + 5) * 1000)
  const last = book()
  await last.look()
  expect(last.use.used).toBeLessThanOrEqual(1_000_000)
  expect([last.spent(300, true).code, last.spent(300, false).code]).toEqual(['PLAN_SPENT', 'PLAN_LIMIT_REACHED'])
})

test('a plan that grows has bytes again, also for those that know the smaller one', async () => {
  const { book } = planOf(1000)
  const [small, large] = [book(), book(5000)]
  expect(await small.take(900, 900)).toBe(900)
  expect(await small.take(500, 500)).toBe(0)
  expect(await large.take(3000, 3000)).toBe(3000)
  // All read the same rows, each with the limit of its writer.
  for (const one of [small, large, book(), book(5000)]) {
    await one.look()
    expect(one.use.used).toBe(3900)
  }
  expect(await small.take(100, 100)).toBe(0)
})

test('a new month has all of its bytes, and the old one keeps its own log', async () => {
  const { book, clock, logs } = planOf(1000)
  const [one, other] = [book(), book()]
  expect(await one.take(1000, 1000)).toBe(1000)
  expect(await other.take(1, 1)).toBe(0)
  clock.now = DECEMBER
  expect(await other.take(800, 800)).toBe(800)
  expect(await one.take(300, 300)).toBe(0)
  expect(await one.take(200, 200)).toBe(200)
  expect([...logs.logs.keys()].map(name => name.slice(-10))).toEqual(['2026-11-01', '2026-12-01'])
})

test.each([
  ['alone', (plan: PlanBook) => plan],
  ['beside a budget of the job', (plan: PlanBook) => withinBoth(plan, jobBudget()) ?? plan],
])('what a worker took before midnight and returns after it is of the old month: %s', async (_, sharing) => {
  const { book, clock } = planOf(1_000_000)
  const one = book()
  const share = await BudgetShare.open(sharing(one), 2)
  const carried = { traffic: { bytesSent: 10_000, bytesReceived: 0, connections: 2 } }
  share.opened(carried)
  const november = one.use.used
  expect(november).toBeGreaterThan(10_000)
  clock.now = DECEMBER
  share.close()
  await one.look()
  expect(one.use.used).toBe(0)
  // Nobody has more than the month, and nobody less.
  expect(await one.take(2_000_000, 1)).toBe(1_000_000)
  expect(await book().take(100, 100)).toBe(0)
})

test('what was taken in both months goes back to each', async () => {
  const { book, clock } = planOf(1_000_000)
  const one = book()
  const share = await BudgetShare.open(one, 1)
  const traffic = { bytesSent: 5000, bytesReceived: 0, connections: 1 }
  share.opened({ traffic })
  const budget = share.limit(() => undefined)
  clock.now = DECEMBER
  expect(await budget.admitQuestion(50_000, 10_000)).toBeDefined()
  const taken = 100_000
  traffic.bytesSent += 30_000
  share.close()
  await one.look()
  // The rest of November, about 20,000 bytes, was used first. Then 10,000 of December.
  expect(one.use.used).toBeGreaterThan(5000)
  expect(one.use.used).toBeLessThan(taken / 4)
})

test('two accounts have plans of their own, and no name of a user is on the queue', async () => {
  const { book, logs } = planOf(1000)
  expect(await book(1000, 'user one').take(1000, 1000)).toBe(1000)
  expect(await book(1000, 'user two').take(1000, 1000)).toBe(1000)
  expect(JSON.stringify([...logs.logs])).not.toContain('user')
})

test('bytes that the queue has lost are counted again by the process that took them', async () => {
  const { book, logs } = planOf(1000)
  const [one, other] = [book(), book()]
  expect(await one.take(600, 600)).toBe(600)
  expect(await other.take(200, 200)).toBe(200)
  for (const rows of logs.logs.values()) rows.length = 0
  // A killed worker cannot say what it took, but this one can.
  expect(await one.take(100, 100)).toBe(100)
  expect(await other.take(150, 150)).toBe(0)
  await one.look()
  expect(one.use.used).toBe(900)
  logs.logs.clear()
  expect(await other.take(100, 100)).toBe(100)
})

test('a plan that only reports counts all, and a forecast needs two days', async () => {
  const { book, clock } = planOf(1000, 'report')
  const one = book()
  expect(await one.take(5000, 5000)).toBe(5000)
  one.give(1000)
  await one.leave()
  await one.look()
  expect(one.use.receipt()).toMatchObject({ bytes: 1000, used: 4000, says: expect.stringMatching(/^4 of 1 kB used/) })
  clock.now += 1
  expect(one.use.perSecond).toBe(Infinity)
})

test('a plan that slows down leaves a rate for the rest of the month', async () => {
  const { book } = planOf(1_000_000_000, { slow: 50 })
  const one = book()
  expect(await one.take(400_000_000, 1)).toBe(400_000_000)
  expect(one.use.perSecond).toBe(Infinity)
  expect(await one.take(200_000_000, 1)).toBe(200_000_000)
  expect(one.use.perSecond).toBeGreaterThan(0)
  expect(one.use.perSecond).toBeLessThan(400_000_000 / 86_400)
})

test('a job keeps to its budget and to the plan, and says which one is spent', async () => {
  const log = new JobLog()
  const given = { control: log.asQueue, job: 'job', made: '', seal: noSeal, patient, most: 1 }
  const { book } = planOf(1_000_000)
  const small = withinBoth(book(), new JobBudget({ ...given, limit: 100_000 }))
  expect(await small?.take(90_000, 90_000)).toBe(90_000)
  expect(await small?.take(20_000, 20_000)).toBe(0)
  expect(small?.spent(20_000, true).code).toBe('BYTE_BUDGET_SPENT')
  const plan = book()
  // What the budget refused came back to the plan.
  expect(await plan.take(900_000, 1)).toBeGreaterThan(880_000)
  log.rows.length = 0
  const other = withinBoth(plan, new JobBudget({ ...given, limit: 10_000_000 }))
  expect(await other?.take(500_000, 500_000)).toBe(0)
  expect(other?.spent(500_000, true).code).toBe('PLAN_SPENT')
  expect(withinBoth(undefined, undefined)).toBeUndefined()
})

test('attempts to open a route that fail are counted, and end when nothing is left', async () => {
  const { book } = planOf(100_000)
  const plan = book()
  const share = await BudgetShare.open(plan, 1)
  const attempts: unknown[] = []
  for (let attempt = 0; attempt < 100; attempt += 1) {
    try {
      share.watch({ traffic: { bytesSent: 4000, bytesReceived: 6000, connections: 1 } })
      attempts.push('tried')
    } catch (error) {
      attempts.push((error as { readonly code?: string }).code)
      break
    }
  }
  expect(attempts.at(-1)).toBe('PLAN_SPENT')
  expect(attempts.length * 10_000).toBeLessThanOrEqual(110_000)
})
