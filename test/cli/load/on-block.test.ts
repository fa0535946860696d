// @module-tag long
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { folder, sluice, startSluice } from '../../support/command/sluice.js'

// Each test starts processes, and waits for a round of probes.
let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

const DOCS = 3000
const lines = Array.from({ length: DOCS }, (_, n) => `{"n":${n}}\n`).join('')

/** A load whose credentials are in files. Over plain http every request shows the proxy its own. */
async function prepare(path: string, index: string) {
  await writeFile(join(path, 'a.ndjson'), lines)
  const renew = async () => {
    await writeFile(join(path, 'key'), `${lab.line.cluster.apiKey}\n`)
    await writeFile(join(path, 'proxy'), `${lab.line.proxy.http}\n`)
  }
  await renew()
  const files = ['--api-key-file', 'key', '--proxy-file', 'proxy', '--state-dir', 'state']
  const pace = ['--preflight-connections', '1', '--batch-docs', '10', '--concurrency', '1', '--on-block', 'wait=5m']
  return {
    args: ['ingest', 'a.ndjson', '--index', index, '--url', lab.line.cluster.httpUrl, ...files, ...pace],
    renew,
  }
}

test('credentials in files may be rotated while a load waits for them: it goes on, and loses nothing', async () => {
  await using work = await folder()
  const { args, renew } = await prepare(work.path, 'cli-rotated')
  lab.control.plant({ latencyMs: 10 })
  const load = startSluice(args, { cwd: work.path })
  await eventually(() => expect(lab.control.count('cli-rotated')).toBeGreaterThan(100))
  const { proxy: oldProxy, cluster: oldCluster } = lab.line
  lab.control.rotateCredentials()
  lab.control.rotateApiKey()
  await load.printed('waiting for access since')
  await renew()
  lab.control.heal()
  const { code, stdout, stderr } = await load.ended
  expect(stderr).toContain('refused the credentials')
  expect(stderr).toContain('fix: Copy the whole proxy URL from the dashboard')
  expect(stderr).toContain('access is back after')
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('3,000 read = 3,000 created') as string })
  expect(lab.control.count('cli-rotated')).toBe(DOCS)
  for (const url of [oldProxy.http, lab.line.proxy.http]) {
    const { password } = new URL(url)
    for (const secret of [password, decodeURIComponent(password)]) expect(stdout + stderr).not.toContain(secret)
  }
  for (const secret of [oldCluster.apiKey, lab.line.cluster.apiKey]) expect(stdout + stderr).not.toContain(secret)
})

test('a load that was given other credentials meanwhile, and is refused for another reason, is not told that the old ones are wrong', async () => {
  await using work = await folder()
  const { args, renew } = await prepare(work.path, 'cli-rotated-busy')
  lab.control.plant({ latencyMs: 10 })
  const load = startSluice([...args, '--max-elapsed', '1s'], { cwd: work.path })
  await eventually(() => expect(lab.control.count('cli-rotated-busy')).toBeGreaterThan(100))
  lab.control.rotateApiKey()
  await load.printed('waiting for access since')
  await renew()
  await load.printed('access is back after')
  lab.control.plant({ bulk: { status: 503 } })
  const { code, stderr } = await load.ended
  lab.control.heal()
  expect({ code, stderr }).toEqual({
    code: 4,
    stderr: expect.stringContaining('explain CLUSTER_UNAVAILABLE') as string,
  })
  // Probes are answered as before; bulk requests are not.
  expect(stderr).not.toContain('nothing refused the request')
})

test('SIGTERM ends the wait at once, with exit code 5, and the same command goes on', async () => {
  await using work = await folder()
  const { args, renew } = await prepare(work.path, 'cli-parked')
  lab.control.plant({ latencyMs: 10 })
  const load = startSluice(args, { cwd: work.path })
  await eventually(() => expect(lab.control.count('cli-parked')).toBeGreaterThan(100))
  lab.control.rotateApiKey()
  await load.printed('waiting for access since')
  load.child.kill('SIGTERM')
  const stopped = await load.ended
  expect(stopped.code).toBe(5)
  expect(stopped.stderr).toContain('documents: SIGTERM')
  lab.control.heal()
  await renew()
  const { code, stdout } = await sluice(args, { cwd: work.path })
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('3,000 read = 3,000 created') as string })
})
