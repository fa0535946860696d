import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startLab } from '../../../src/lab/index.js'
import type { Change } from '../../../src/programs/doctor/watch/changes.js'
import { until } from '../../support/eventually.js'
import { ask } from '../../support/lab/lab-clients.js'
import { sluiceHere } from '../../support/command/in-process.js'
import { folder, startSluice } from '../../support/command/sluice.js'

test(
  'prints a line for each change, tells others of it, reads credentials again, and ends with SIGTERM',
  { tags: 'long' },
  async () => {
    await using lab = await startLab()
    await using work = await folder()
    const { ELASTICSEARCH_API_KEY: key = '', ...others } = lab.env
    const env = { ...others, SLUICE_STATE_DIR: join(work.path, 'state') }
    await writeFile(join(work.path, 'key'), Buffer.from('id:wrong').toString('base64'))
    const watching = ['doctor', '--watch', '1s', '--preflight-connections', '2', '--api-key-file', 'key']
    const telling = ['--on-change', 'cat >> changes', '--on-failure', 'incident', '--job', 'route']
    const args = [...watching, ...telling, '--metrics-textfile', 'doctor.prom']
    const running = startSluice(args, { cwd: work.path, env })
    const incidents = () =>
      lab.control.servicenow.rows('incident').filter(row => row['correlation_id'] === 'sluice:route')
    await running.printed('appeared CLUSTER_AUTH_REJECTED: ')
    await until(() => incidents().length === 1)
    await writeFile(join(work.path, 'key'), key)
    await running.printed('gone CLUSTER_AUTH_REJECTED: ')
    await until(() => incidents()[0]?.['state'] === '6')
    running.child.kill('SIGTERM')
    const { code, stdout, stderr } = await running.ended
    expect(code, stderr).toBe(0)
    expect(stdout.match(/CLUSTER_AUTH_REJECTED: /g)).toHaveLength(2)
    const changes = (await readFile(join(work.path, 'changes'), 'utf8')).trim().split('\n')
    const heard = changes.map(line => JSON.parse(line) as Change).filter(({ what }) => what === 'CLUSTER_AUTH_REJECTED')
    expect(heard.map(({ kind }) => kind)).toEqual(['appeared', 'gone'])
    const metrics = await readFile(join(work.path, 'doctor.prom'), 'utf8')
    expect(metrics).toMatch(/^sluice_doctor_ok\{sluice_job="route"\} [01]$/m)
    expect(metrics).toMatch(
      /^sluice_doctor_expiry_timestamp_seconds\{of="certificate of the cluster",sluice_job="route"\} \d+$/m,
    )
    for (const text of [stdout, stderr, ...changes, metrics]) expect(text).not.toContain(key)
  },
)

test('a receiver watches its route too, and shows what it sees with its own metrics', { tags: 'long' }, async () => {
  await using lab = await startLab()
  await using work = await folder()
  const { SERVICENOW_INSTANCE_URL: _, ...others } = lab.env
  const env = { ...others, SLUICE_STATE_DIR: join(work.path, 'state'), SLUICE_METRICS_PORT: '0' }
  const receiving = ['serve', '--index', 'watched', '--listen', '127.0.0.1:0', '--no-token']
  const running = startSluice([...receiving, '--preflight-connections', '2', '--watch', '1s'], { cwd: work.path, env })
  let text = ''
  running.child.stderr?.on('data', (chunk: string) => (text += chunk))
  await running.printed('listening on ')
  lab.control.register('none')
  await running.printed('appeared EGRESS_NOT_ALLOWED: ')
  const [, url = ''] = /metrics on (\S+)/.exec(text) ?? []
  const { text: metrics } = await ask(url)
  expect(metrics).toContain('sluice_doctor_ok 0\n')
  expect(metrics).toContain('sluice_doctor_finding{code="EGRESS_NOT_ALLOWED",severity="error"} 1\n')
  expect(metrics).toContain('sluice_waiting_documents 0\n')
  running.child.kill('SIGTERM')
  const { code, stderr } = await running.ended
  expect(code, stderr).toBe(0)
})

const receiver = ['serve', '--index', 'a', '--listen', '127.0.0.1:0', '--no-token']
test.each([
  ['a command without a watch', ['doctor', '--on-change', 'true'], /--on-change: needs --watch/],
  ['a time that is too short', ['doctor', '--watch', '10ms'], /--watch/],
  ['a command without a watch of a receiver', [...receiver, '--on-change', 'true'], /--on-change: needs --watch/],
  ['incidents without a watch of a receiver', [...receiver, '--on-failure', 'incident'], /--on-failure: needs --watch/],
  ['a time that is too short for a receiver', [...receiver, '--watch', '10ms'], /--watch: is shorter than 1s/],
])('refuses %s', async (_, args, message) => {
  const { code, stderr } = await sluiceHere([...args, '--url', 'https://127.0.0.1:1', '--direct', '--api-key', 'key'])
  expect(code).toBe(2)
  expect(stderr).toMatch(message)
})
