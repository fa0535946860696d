import { expect, test } from 'vitest'
import { startMetricsServer } from '../../../../src/cli/application/show-metrics.js'
import { ask } from '../../../support/lab/lab-clients.js'

test('answers scrapes, and nothing else', async () => {
  let isBroken = false
  const text = async () => (isBroken ? await Promise.reject(new Error('bug')) : 'sluice_up 1\n')
  await using server = await startMetricsServer({ host: '127.0.0.1', port: 0 }, 'text/plain; version=0.0.4', text)
  const { status, headers, text: body } = await ask(server.url)
  expect([status, headers['content-type'], body]).toEqual([200, 'text/plain; version=0.0.4', 'sluice_up 1\n'])
  expect((await ask(server.url, { method: 'HEAD' })).text).toBe('')
  expect((await ask(server.url, { method: 'POST', body: 'x' })).status).toBe(405)
  expect((await ask(server.url.replace('/metrics', '/'))).status).toBe(404)
  isBroken = true
  expect((await ask(server.url)).status).toBe(500)
})

test('an address in use is the error of the system', async () => {
  await using server = await startMetricsServer({ host: '127.0.0.1', port: 0 }, '', async () => '')
  const port = Number(new URL(server.url).port)
  await expect(startMetricsServer({ host: '127.0.0.1', port }, '', async () => '')).rejects.toThrow('EADDRINUSE')
})
