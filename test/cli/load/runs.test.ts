import { existsSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/ledger/receipt.js'
import { folder, sluice, startSluice } from '../../support/sluice.js'

// Each test starts processes.
let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

const lines = (documents: number) => Array.from({ length: documents }, (_, n) => `{"n":${n}}\n`).join('')

test('an interrupted command goes on when it is given again; runs lists it, and rm forgets it', async () => {
  await using work = await folder()
  const env = { ...lab.env, SLUICE_STATE_DIR: join(work.path, 'state'), SLUICE_PREFLIGHT_CONNECTIONS: '1' }
  const surroundings = { cwd: work.path, env }
  await writeFile(join(work.path, 'a.ndjson'), lines(3000))
  const command = ['ingest', 'a.ndjson', '--index', 'cli-resumed', '--batch-docs', '10', '--concurrency', '1']
  expect(await sluice(['runs'], surroundings)).toMatchObject({ code: 0, stdout: 'No runs.\n' })

  lab.control.plant({ latencyMs: 20 })
  const load = startSluice(command, surroundings)
  await eventually(() => expect(lab.control.count('cli-resumed')).toBeGreaterThan(100))
  load.child.kill('SIGTERM')
  const stopped = await load.ended
  expect(stopped.code).toBe(5)
  expect(stopped.stdout).toMatch(new RegExp(`checkpoint +${work.path}/state/runs/[0-9a-f]{32}\\.json\n`))
  expect(stopped.stderr).toContain('Run the same command again')
  lab.control.heal()
  const run = /^Run (\S+) interrupted/.exec(stopped.stdout)?.[1] ?? ''
  expect((await sluice(['runs'], surroundings)).stdout).toMatch(
    new RegExp(`\n${run} +interrupted +\\S+Z +cli-resumed +[\\d,]+ +0 +a.ndjson\n`),
  )

  const resumed = await sluice(command, surroundings)
  expect(resumed.code).toBe(0)
  expect(resumed.stdout).toMatch(new RegExp(`^Run ${run} finished`))
  expect(resumed.stdout).toContain('3,000 read = 3,000 created, it balances')
  expect(resumed.stdout).toMatch(/inputs +a\.ndjson, resumed at document [\d,]+\n/)
  expect(resumed.stderr).toMatch(/reading a\.ndjson from document \d+ on/)
  expect(lab.control.count('cli-resumed')).toBe(3000)

  const done = await sluice(command, surroundings)
  expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining('a.ndjson is already loaded') as string })
  expect(done.stdout).toMatch(/inputs +a\.ndjson, already loaded\n/)
  expect(done.stdout).toContain(
    `Run ${run}: nothing was loaded\n\n  a.ndjson was already loaded and has not changed. No documents were sent.`,
  )
  expect(done.stdout).toContain('Use --again to load it again.')

  const listed = JSON.parse((await sluice(['runs', '--json'], surroundings)).stdout) as { runs: Receipt[] }
  expect(listed.runs).toMatchObject([{ run, status: 'finished', index: 'cli-resumed', counts: { created: 3000 } }])
  expect(await sluice(['runs', 'rm', `${run.slice(0, -1)}x`], surroundings)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`Did you mean ${run}?`) as string,
  })
  expect(await sluice(['runs', 'rm', run], surroundings)).toMatchObject({
    code: 0,
    stdout: `Run ${run} into cli-resumed is forgotten.\n`,
  })
  expect(await readdir(join(work.path, 'state', 'runs'))).toEqual([])
})

test('runs says what it can do, and shows a checkpoint that it cannot read', async () => {
  await using work = await folder()
  const env = { SLUICE_STATE_DIR: work.path }
  const surroundings = { cwd: work.path, env }
  for (const [args, said] of [
    [['rm'], 'rm needs a run'],
    [['remove', 'x'], "'remove' is unknown: write sluice runs rm RUN"],
    [['rm', 'x'], "there is no run 'x'"],
  ] as const) {
    const { code, stderr } = await sluice(['runs', ...args], surroundings)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(said) as string })
  }
  await mkdir(join(work.path, 'runs'))
  await writeFile(join(work.path, 'runs', 'k.json'), '{"version":9}')
  const { stdout } = await sluice(['runs'], surroundings)
  expect(stdout).toContain('a newer Sluice wrote it (version 9). To remove it, run sluice runs rm k.json\n')
})

test('runs rm removes checkpoints that cannot be read, by their file and by the run that they name', async () => {
  await using work = await folder()
  const surroundings = { cwd: work.path, env: { SLUICE_STATE_DIR: work.path } }
  const runs = join(work.path, 'runs')
  await mkdir(runs)
  const broken = {
    'one.json': '{"version":9}',
    'two.json': '',
    'three.json': '{"version":1,"run":"R3","sta',
    'kept.json': '',
  }
  for (const [name, text] of Object.entries(broken)) await writeFile(join(runs, name), text)
  for (const [named, name] of [
    ['one.json', 'one.json'],
    [join(runs, 'two.json'), 'two.json'],
    ['R3', 'three.json'],
  ] as const) {
    const { code, stdout } = await sluice(['runs', 'rm', named], surroundings)
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${join(runs, name)} is removed.\n` })
  }
  expect(await readdir(runs)).toEqual(['kept.json'])
  const { stdout } = await sluice(['runs', 'rm', 'kept', '--json'], surroundings)
  expect(JSON.parse(stdout)).toMatchObject({ removed: [], broken: [{ checkpoint: join(runs, 'kept.json') }] })
})

test.runIf(existsSync('/proc/self'))('a state folder where no folder can be made is named at once', async () => {
  await using work = await folder()
  await writeFile(join(work.path, 'a.ndjson'), lines(3))
  const args = ['ingest', 'a.ndjson', '--index', 'cli-proc', '--state-dir', '/proc/sluice/state']
  const { code, stderr } = await sluice(args, { cwd: work.path, env: lab.env })
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: expect.stringContaining(
      'error: cannot write /proc/sluice/state/runs: no folder can be made in /proc',
    ) as string,
  })
})

test('without any state of its own, it is kept where programs keep such things', async () => {
  await using work = await folder()
  await writeFile(join(work.path, 'a.ndjson'), lines(3))
  const home = { ...lab.env, HOME: work.path, XDG_STATE_HOME: '' }
  const args = ['ingest', 'a.ndjson', '--index', 'cli-home', '--json']
  const { stdout } = await sluice(args, { cwd: work.path, env: home })
  expect((JSON.parse(stdout) as Receipt).checkpoint).toContain(join(work.path, '.local/state/sluice/runs/'))
  const xdg = { ...home, XDG_STATE_HOME: join(work.path, 'xdg') }
  const other = await sluice(args, { cwd: work.path, env: xdg })
  expect((JSON.parse(other.stdout) as Receipt).checkpoint).toContain(join(work.path, 'xdg/sluice/runs/'))
})
