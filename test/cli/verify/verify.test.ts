import { runIn } from '../../support/state/stored-runs.js'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { type Receipt, type Undone, type Verification, connect } from '../../../src/index.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder } from '../../support/command/sluice.js'

// Each test starts processes.
let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

/** A loaded run, and what runs commands beside it. */
async function loaded(path: string, index: string) {
  const env = { ...lab.env, SLUICE_STATE_DIR: join(path, 'state'), SLUICE_PREFLIGHT_CONNECTIONS: '1' }
  const command = async (...args: string[]) => await sluice(args, { cwd: path, env })
  const text = Array.from({ length: 500 }, (_, n) => `{"n":${n}}\n`).join('')
  await writeFile(join(path, 'a.ndjson'), `${text}no\n`)
  const { stdout } = await command('ingest', 'a.ndjson', '--index', index, '--json')
  const { run, checkpoint = '' } = JSON.parse(stdout) as Receipt
  const [input] = (await runIn(checkpoint)).inputs
  return { command, run, checkpoint, token: input?.token ?? '' }
}

async function remove(index: string, ...ids: string[]): Promise<void> {
  const { url, apiKey, caFile } = lab.line.cluster
  await using way = await connect({
    target: { url, apiKey, ca: await readFile(caFile) },
    proxy: lab.line.proxy.http,
    preflightConnections: 1,
  })
  for (const id of ids) await way.client.delete({ index, id })
}

test('verify tells whether all of a run is there, and what is missing', async () => {
  await using work = await folder()
  const { command, run, checkpoint, token } = await loaded(work.path, 'cli-verified')
  const whole = await command('verify', run)
  expect(whole).toMatchObject({ code: 0, stderr: '' })
  expect(whole.stdout).toBe(
    [
      `Run ${run}: all there`,
      '',
      '  documents  501  of the run, with a known outcome',
      '  found      500',
      '  rejected     1  rejected when they were loaded',
      '  missing      0',
      '',
      '  501 documents = 500 found + 1 rejected + 0 missing, it balances',
      '',
      '  index       cli-verified',
      `  cluster     ${lab.line.cluster.url}`,
      `  checkpoint  ${checkpoint}`,
      '',
    ].join('\n'),
  )
  const ids = Array.from({ length: 22 }, (_, n) => `${token}-${n + 1}`)
  await remove('cli-verified', ...ids)
  const part = await command('verify', run)
  expect(part.code).toBe(1)
  expect(part.stdout).toContain(`Run ${run}: 22 of 501 documents missing\n`)
  expect(part.stdout).toContain(`\nMissing\n\n  ${token}-1   a.ndjson\n`)
  expect(part.stdout).toContain('… 2 more')
  const json = await command('verify', run, '--json')
  expect(json.code).toBe(1)
  const seen = JSON.parse(json.stdout) as Verification
  expect(seen).toMatchObject({ ok: false, missing: 22, inputs: [{ missingIds: ids }] })
})

test('verify refuses a run that it does not know, and one whose ids it cannot tell', async () => {
  await using work = await folder()
  const { command, run } = await loaded(work.path, 'cli-unverified')
  const unknown = await command('verify', `${run}x`)
  expect(unknown).toMatchObject({ code: 2, stdout: '' })
  expect(unknown.stderr).toContain(`did you mean ${run}?`)
  const byCluster = await command('ingest', 'a.ndjson', '--index', 'cli-cluster', '--ids', 'cluster', '--json')
  const other = (JSON.parse(byCluster.stdout) as Receipt).run
  for (const verb of ['verify', 'undo']) {
    const refused = await command(verb, other)
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('was loaded with --ids cluster')
  }
  expect(await command('verify')).toMatchObject({ code: 2, stderr: expect.stringContaining("'run'") as string })
  expect((await command('undo', run, '--forse')).stderr).toContain('unknown option --forse')
})

test('undo deletes nothing that was not confirmed, then all of it', async () => {
  await using work = await folder()
  const { command, run, token } = await loaded(work.path, 'cli-undone')
  const unconfirmed = await command('undo', run)
  expect(unconfirmed).toMatchObject({ code: 2, stdout: '' })
  expect(unconfirmed.stderr).toContain(`undo of run ${run} would delete 500 documents from cli-undone`)
  const dry = await command('undo', run, '--dry-run')
  expect(dry.code).toBe(0)
  expect(dry.stdout).toContain('this is a dry run. Sluice deletes nothing')
  expect(dry.stdout).toContain('500 found = 500 would delete, it balances')
  expect(lab.control.count('cli-undone')).toBe(500)

  await remove('cli-undone', `${token}-9`)
  const undone = await command('undo', run, '--yes')
  expect(undone).toMatchObject({ code: 0, stderr: '' })
  expect(undone.stdout).toContain(`Run ${run}: undone\n`)
  expect(undone.stdout).toContain('499 found = 499 deleted, it balances')
  expect(undone.stdout).toMatch(/gone +1 +no longer existed/)
  expect(lab.control.count('cli-undone')).toBe(0)
  // The list of runs still says who deleted them. A load does not take the file for loaded.
  expect((await command('runs')).stdout).toMatch(
    new RegExp(`${run} .*undone \\d{4}-\\d\\d-\\d\\d \\S+, 499 deleted .*cli-undone +0 `),
  )
  expect((await command('runs', run)).stdout).toMatch(/undone +\d{4}-\d\d-\d\d \S+, 499 documents deleted\n/)
  const listed = JSON.parse((await command('runs', '--json')).stdout) as { runs: unknown[] }
  expect(listed.runs).toMatchObject([{ run, undone: { deleted: 499 }, counts: { created: 500 } }])
  // Another run that is good is not proposed in its place.
  await writeFile(join(work.path, 'good.ndjson'), '{"n":1}\n')
  expect((await command('ingest', join(work.path, 'good.ndjson'), '--index', 'cli-good')).code).toBe(0)
  for (const args of [
    ['undo', run, '--yes'],
    ['verify', run],
    ['verify', join(work.path, 'state', 'runs', `${run}.jsonl`)],
  ]) {
    const { code, stderr } = await command(...args)
    expect(code).toBe(2)
    expect(stderr).toMatch(new RegExp(`run ${run} was undone on \\d{4}-\\d\\d-\\d\\d \\S+: 499 documents deleted`))
    expect(stderr).not.toMatch(/did you mean/i)
  }
  await command('runs', 'rm', run)
  for (const args of [
    ['undo', run, '--yes'],
    ['runs', run],
    ['runs', 'rm', run],
  ])
    expect((await command(...args)).stderr).toMatch(/there is no run (?!.*did you mean)/i)
})

test('undo leaves what was changed, with exit code 1, and --force does not', async () => {
  await using work = await folder()
  const { command, run, token } = await loaded(work.path, 'cli-changed')
  const { url, apiKey, caFile } = lab.line.cluster
  {
    await using way = await connect({ target: { url, apiKey, ca: await readFile(caFile) }, proxy: lab.line.proxy.http })
    await way.client.index({ index: 'cli-changed', id: `${token}-3`, document: { n: 33 } })
  }
  const kept = await command('undo', run, '--yes')
  expect(kept.code).toBe(1)
  expect(kept.stdout).toContain(`Changed\n\n  ${token}-3\n`)
  expect(kept.stdout).toContain('500 found = 499 deleted + 1 changed, it balances')
  const forced = await command('undo', run, '--yes', '--force', '--json')
  expect(forced.code).toBe(0)
  expect(JSON.parse(forced.stdout) as Undone).toMatchObject({ isComplete: true, deleted: 1, gone: 499 })
})

test('verify --deep compares a moved index with the cluster that it came from', async () => {
  await using both = await startLab({ clusters: 2 })
  await using work = await folder()
  const env = { ...both.env, SLUICE_STATE_DIR: join(work.path, 'state'), SLUICE_PREFLIGHT_CONNECTIONS: '1' }
  const command = async (...args: string[]) => await sluice(args, { cwd: work.path, env })
  const { url = '' } = both.line.otherCluster ?? {}
  both.control.store('orders', new Map(Array.from({ length: 30 }, (_, n) => [`id-${n}`, `{"n":${n}}`] as const)))
  const { stdout } = await command('ingest', 'elasticsearch:orders', '--from', url, '--index', 'orders', '--json')
  const { run, checkpoint } = JSON.parse(stdout) as Receipt
  const whole = await command('verify', run, '--deep', '--from', url)
  expect(whole).toMatchObject({ code: 0, stderr: '' })
  expect(whole.stdout).toBe(
    [
      `Run ${run}: equal`,
      '',
      '  documents  30  in the source',
      '  equal      30  the same id and the same document',
      '  missing     0',
      '  different   0',
      '',
      '  30 documents = 30 equal + 0 rejected + 0 missing + 0 different + 0 unread, it balances',
      '',
      `  from        ${url}`,
      '  index       orders',
      `  cluster     ${both.line.cluster.url}`,
      `  checkpoint  ${checkpoint}`,
      '',
    ].join('\n'),
  )
  both.control.store('orders', new Map([['id-3', '{"n":3.0}']]))
  const since = await command('verify', run, '--deep', '--from', url, '--json')
  expect(since.code).toBe(0)
  expect(JSON.parse(since.stdout)).toMatchObject({ ok: true, unread: 1, inputs: [{ unreadIds: ['id-3'] }] })
  expect(await command('verify', run, '--deep')).toMatchObject({ code: 2, stderr: expect.stringContaining('--from') })
  expect(await command('verify', run, '--from', url)).toMatchObject({ code: 2 })
  expect(await command('verify', run)).toMatchObject({ code: 2, stderr: expect.stringContaining('--deep') })
})
