import { readdir, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { createHash } from 'node:crypto'
import { ingest, type IngestOptions, isSluiceError, type Receipt, serve } from '../../../src/index.js'
import { lab, path, shareLab, smallBatches, way } from '../../support/lab/shared-lab.js'

shareLab()

/** Documents whose text does not compress. */
const lines = (count: number) =>
  Array.from({ length: count }, (_, n) => {
    const text = createHash('sha512').update(String(n)).digest('base64').repeat(5)
    return `${JSON.stringify({ n, text })}\n`
  }).join('')

async function load(name: string, more: Partial<IngestOptions>): Promise<Receipt> {
  return await ingest({ ...smallBatches(), source: path(name), compress: 'none', ...more })
}

async function stopped(run: Promise<unknown>) {
  try {
    await run
  } catch (error) {
    if (isSluiceError(error)) return error
    throw error
  }
  throw new Error('the run did not stop')
}

const wire = ({ bytes }: Receipt) => bytes.sent + bytes.received

test('a plan holds the bytes of all loads, ends one that reaches it, and starts none when it is spent', async () => {
  for (const name of ['a', 'b', 'c']) await writeFile(path(name), lines(100))
  const plan = 10_000_000
  const a = await load('a', { plan })
  expect(a.plan).toMatchObject({
    bytes: plan,
    says: expect.stringMatching(/^0\.\d+ of 10 MB used.* too little history/),
  })
  expect(a.plan?.used).toBeGreaterThanOrEqual(wire(a))
  // What is written when a connection closes comes on top.
  const known = await load('b', { plan })
  const both = wire(a) + wire(known)
  expect(known.plan?.used).toBeGreaterThanOrEqual(both)
  expect(known.plan?.used).toBeLessThan(both * 1.05)

  // Little is left: for the first checks, and some documents.
  const smaller = (known.plan?.used ?? 0) + 40_000
  const reached = await stopped(load('c', { plan: smaller, planLimit: 'stop' }))
  expect([reached.code, reached.receipt?.status]).toEqual(['PLAN_LIMIT_REACHED', 'interrupted'])
  expect(reached.receipt?.created).toBeGreaterThan(0)
  expect(reached.receipt?.plan?.used).toBeLessThanOrEqual(smaller)

  const before = lab.control.connections()
  const spent = await stopped(load('c', { plan: 500_000, planLimit: { stop: 1 } }))
  expect([spent.code, spent.receipt]).toEqual(['PLAN_SPENT', undefined])
  expect(lab.control.connections()).toEqual(before)

  const resumed = await load('c', { plan, planLimit: 'stop' })
  expect([resumed.created, resumed.inputs[0]?.resumedAt]).toEqual([100, expect.any(Number)])
  expect(await readdir(path('state'))).toContain('plan')
})

test('without a proxy there is no plan, and without a state folder it cannot be kept', async () => {
  await writeFile(path('a'), lines(1))
  const direct = await load('a', { plan: 10_000_000, proxy: undefined }).catch((error: unknown) => error)
  expect((direct as { plan?: unknown }).plan).toBeUndefined()
  const unkept = await stopped(load('a', { plan: 10_000_000, stateDir: undefined }))
  expect(unkept.message).toBe('plan: needs stateDir, where Sluice counts')
})

test('a receiver whose plan is spent accepts documents, and connects to nothing', async () => {
  await writeFile(path('a'), lines(10))
  await load('a', { plan: 5000 })
  lab.control.forgetConnections()
  const spent = { plan: 5000, planLimit: 'stop' } as const
  await using serving = await serve({
    ...way(),
    ...spent,
    index: 'spent',
    stateDir: path('state'),
    token: false,
    listen: '127.0.0.1:0',
    acceptAnyway: true,
  })
  const posted = await fetch(serving.url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: '{"n":1}\n',
  })
  expect([posted.status, serving.status().failure?.code]).toEqual([202, 'PLAN_SPENT'])
  expect(lab.control.connections()).toEqual([])
})
