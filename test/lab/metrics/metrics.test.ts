// @module-tag long
/** Metrics of runs and receivers on the lab, as a scraper sees them. */
import { readFile, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { ask } from '../../support/lab/lab-clients.js'
import { sluiceHere } from '../../support/command/in-process.js'
import { eventually } from '../../support/eventually.js'
import { index, lab, path, shareLab, work } from '../../support/lab/shared-lab.js'
import { lines, ndjson, post, start } from '../../support/lab/serve-world.js'

shareLab()

async function load(...more: readonly string[]) {
  const env = { ...lab.env, SLUICE_STATE_DIR: path('state') }
  const fixed = ['ingest', 'a.ndjson', '--index', index, '--preflight-connections', '1', '--job', 'orders']
  return await sluiceHere([...fixed, ...more], { cwd: work, env })
}

test('the textfile of a job counts its runs, also those that fail', async () => {
  await writeFile(path('a.ndjson'), '{"n":1}\n{"n":2}\nnot json\n')
  const textfile = ['--metrics-textfile', 'orders.prom']
  const read = async () => await readFile(path('orders.prom'), 'utf8')
  expect((await load(...textfile)).code).toBe(1)
  const first = await read()
  expect(first).toContain('sluice_documents_total{outcome="created",sluice_job="orders"} 2\n')
  expect(first).toContain('sluice_documents_total{outcome="rejected",sluice_job="orders"} 1\n')
  expect(first).toContain('sluice_last_run_exit_code{sluice_job="orders"} 1\n')
  expect(first).not.toMatch(/^sluice_last_success/m)
  expect(first).toContain('sluice_unreplayed_documents{sluice_job="orders"} 0\n')
  expect((await load(...textfile)).code).toBe(0)
  const good = await read()
  expect(good).toContain('sluice_unreplayed_documents{sluice_job="orders"} 1\n')
  expect(good).toContain('sluice_input_gaps{sluice_job="orders"} 0\n')
  const [success = ''] = /^sluice_last_success_timestamp_seconds.*$/m.exec(good) ?? []
  expect(success).toMatch(/} 1[0-9]{9}/)
  lab.control.register('none')
  expect((await load(...textfile, '--again')).code).toBe(3)
  // Fails before anything is sent.
  expect((await load(...textfile, '--api-key-file', 'missing')).code).toBe(2)
  const last = await read()
  expect(last).toContain(success)
  expect(last).toContain('sluice_last_run_failure{code="OPTION_INVALID",sluice_job="orders"} 1\n')
  expect(last).not.toContain('code="EGRESS_NOT_ALLOWED"')
  for (const code of [0, 1, 2, 3])
    expect(last).toContain(`sluice_runs_total{exit_code="${code}",sluice_job="orders"} 1\n`)
  expect(last).toContain('sluice_documents_total{outcome="created",sluice_job="orders"} 2\n')
  // Neither run could look.
  expect(last).toContain('sluice_unreplayed_documents{sluice_job="orders"}')
  expect(last).not.toContain('a.ndjson')
  expect(last).not.toContain(lab.line.cluster.apiKey)
})

test.each([
  ['a name that the collector does not read', ['--metrics-textfile', 'orders.txt'], /does not end in .prom/],
  ['a folder that does not exist', ['--metrics-textfile', 'no/orders.prom'], /the folder does not exist/],
  ['a port that is none', ['--metrics-port', '99999'], /--metrics-port: '99999' is not a port/],
])('a run does not begin with %s', async (_, more, message) => {
  await writeFile(path('a.ndjson'), '{"n":1}\n')
  const { code, stderr } = await load(...more)
  expect(code).toBe(2)
  expect(stderr).toMatch(message)
})

test('a run answers on a port of loopback, until it ends', async () => {
  await writeFile(path('a.ndjson'), lines(20))
  const { code, stderr } = await load('--metrics-port', '0', '--log-format', 'json')
  expect(code).toBe(0)
  const [, url = ''] = /metrics on (http:[^"]+)/.exec(stderr) ?? []
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/)
  await expect(ask(url)).rejects.toThrow('ECONNREFUSED')
})

test('a receiver shows its metrics to everybody, or only with its token', async () => {
  const bare = await start()
  expect((await ask(`${bare.url}metrics`)).status).toBe(404)
  await bare.close()

  const closed = await start({ metrics: 'token' })
  expect((await ask(`${closed.url}metrics`)).status).toBe(401)
  const { authorization } = ndjson
  expect((await ask(`${closed.url}metrics`, { headers: { authorization } })).status).toBe(200)
  await closed.close()

  const open = await start({ metrics: 'open' })
  const scrape = async () => await ask(`${open.url}metrics`)
  expect((await scrape()).text).toContain('sluice_waiting_documents 0\n')
  await post(lines(3))
  await eventually(async () => expect((await scrape()).text).toContain('sluice_documents_total{outcome="created"} 3\n'))
  const { text, headers } = await scrape()
  expect(headers['content-type']).toContain('text/plain; version=0.0.4')
  expect(text).toContain('sluice_accepted_documents_total 3\n')
  expect(text).toContain('sluice_answers_total{status="202"} 1\n')
  expect(text).toContain('sluice_requests_total{status="200"} 1\n')
  expect(text).toMatch(/^sluice_last_success_timestamp_seconds 1\d{9}/m)
  await open.close()
})

test('a receiver that cannot load shows that it waits, and for how long', async () => {
  lab.control.register('none')
  const serving = await start({ metrics: 'open', acceptAnyway: true })
  const scrape = async () => (await ask(`${serving.url}metrics`)).text
  await post(lines(2))
  await eventually(async () => {
    expect(await scrape()).toContain('sluice_access_lost 1\n')
    expect(await scrape()).toContain('sluice_waiting_documents 2\n')
  })
  expect(await scrape()).toContain('sluice_retries_total{cause="EGRESS_NOT_ALLOWED"}')
  lab.control.register('both')
  await eventually(async () => expect(await scrape()).toContain('sluice_access_lost 0\n'))
  expect(await scrape()).toMatch(/^sluice_access_wait_seconds_total 0*[1-9.]/m)
  await serving.close()
})
