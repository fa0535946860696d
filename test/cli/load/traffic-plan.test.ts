import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/index.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder } from '../../support/command/sluice.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

/** What all processes have written. */
async function counted(state: string): Promise<number> {
  const [account = ''] = await readdir(join(state, 'plan'))
  const [month = ''] = await readdir(join(state, 'plan', account))
  const text = await readFile(join(state, 'plan', account, month), 'utf8')
  const lines = text.split('\n').filter(line => line !== '')
  return lines.reduce((sum, line) => sum + (JSON.parse(line) as { readonly bytes: number }).bytes, 0)
}

test(
  'every command counts for the plan, and those with much traffic do not start if it is spent',
  { tags: 'long' },
  async () => {
    await using work = await folder()
    const state = join(work.path, 'state')
    await writeFile(join(work.path, 'sluice.config.json'), JSON.stringify({ plan: '100gb/month', stateDir: 'state' }))
    await writeFile(join(work.path, 'a.ndjson'), '{"n":1}\n'.repeat(100))
    const env = { ...lab.env, SLUICE_PREFLIGHT_CONNECTIONS: '1' }
    const command = async (...args: string[]) => await sluice(args, { cwd: work.path, env })

    const load = await command('ingest', 'a.ndjson', '--index', 'cli-plan')
    expect(load.stdout).toMatch(/^ {2}plan +less than 0\.01 of 100 GB used, /m)
    const [afterLoad, run] = [await counted(state), /^Run (\S+) finished/.exec(load.stdout)?.[1] ?? '']
    const verified = await command('verify', run)
    expect(verified).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^the proxy's monthly plan: less than 0\.01 of 100 GB used/),
    })
    const afterVerify = await counted(state)
    expect(afterVerify).toBeGreaterThan(afterLoad)
    expect((await command('doctor')).code).toBe(0)
    const afterDoctor = await counted(state)
    expect(afterDoctor).toBeGreaterThan(afterVerify)

    const spent = ['--plan', '5kb/month', '--plan-limit', 'stop']
    lab.control.forgetConnections()
    for (const args of [
      ['verify', run],
      ['ingest', 'a.ndjson', '--index', 'cli-plan', '--again'],
    ]) {
      const { code, stderr } = await command(...args, ...spent)
      expect([code, stderr]).toEqual([4, expect.stringContaining('PLAN_SPENT')])
    }
    expect([lab.control.connections(), await counted(state)]).toEqual([[], afterDoctor])
    // The doctor always works.
    expect((await command('doctor', ...spent)).code).toBe(0)
  },
)

test('a receipt in JSON holds the plan', async () => {
  await using work = await folder()
  await writeFile(join(work.path, 'a.ndjson'), '{"n":1}\n')
  const env = { ...lab.env, SLUICE_PLAN: '2gb/month', SLUICE_STATE_DIR: join(work.path, 'state') }
  const { stdout } = await sluice(['ingest', 'a.ndjson', '--index', 'cli-plan-json', '--json'], { cwd: work.path, env })
  const { plan, bytes } = JSON.parse(stdout) as Receipt
  expect(plan).toMatchObject({ bytes: 2e9, from: expect.stringMatching(/-01T00:00:00\.000Z$/) })
  expect(plan?.used).toBeGreaterThanOrEqual(bytes.sent + bytes.received)
})
