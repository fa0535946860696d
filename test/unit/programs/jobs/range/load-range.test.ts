import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { JobBudget } from '../../../../../src/programs/jobs/budget/job-budget.js'
import { RangeLoader } from '../../../../../src/programs/jobs/range/load-range.js'
import { JobLog } from '../../../../support/load/job-log.js'
import { noSeal } from '../../../../../src/programs/jobs/queue/seal.js'

const LIMIT = 2_000_000

test('connections that a proxy refuses cost the job what they carried, and no more', async () => {
  let carried = 0
  const proxy = createServer(socket => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n'))
    socket.on('close', () => (carried += socket.bytesRead + socket.bytesWritten))
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  const log = new JobLog()
  const patient = async <T>(work: () => Promise<T>) => await work()
  const budget = () =>
    new JobBudget({ control: log.asQueue, job: 'job', made: '', seal: noSeal, limit: LIMIT, most: 1, patient })
  const never = () => {
    throw new Error('nothing is loaded')
  }
  const loader = new RangeLoader({
    options: { target: { url: 'https://es.example' }, proxy: `http://127.0.0.1:${port}`, index: 'logs' },
    job: 'job',
    folder: '/nowhere',
    loads: { load: never, [Symbol.asyncDispose]: async () => await Promise.resolve() },
    limits: { bytes: budget(), plan: undefined },
    sharing: 1,
    heard: () => undefined,
  })
  const range = { inputs: [], source: 0, index: 'logs' }
  const { signal } = new AbortController()
  const none = () => undefined
  const watch = { permit: async () => await Promise.resolve(true), signal, busy: none, blocked: none, unblocked: none }
  for (let attempt = 0; attempt < 6; attempt += 1)
    await expect(loader.load('range', range, watch)).rejects.toMatchObject({ code: expect.stringMatching(/^PROXY_/) })
  await loader.close()
  proxy.close()
  await once(proxy, 'close')
  expect(carried).toBeGreaterThan(0)
  expect(await budget().take(LIMIT, LIMIT)).toBe(0)
  // The proxy does not read all that was sent to it.
  const left = LIMIT - 2 * carried
  expect(await budget().take(left, left)).toBe(left)
})
