import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/pipeline/ledger/receipt.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder, startSluice } from '../../support/command/sluice.js'

// Each test starts processes.
let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

const lines = (documents: number) => Array.from({ length: documents }, (_, n) => `{"n":${n}}\n`).join('')

test(
  'an interrupted command goes on when it is given again; runs lists it, and rm forgets it',
  { tags: 'long' },
  async () => {
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
    expect(stopped.stdout).toMatch(new RegExp(`checkpoint +${work.path}/state/runs/[0-9TZ]+-[0-9a-f]{6}\\.jsonl\n`))
    expect(stopped.stderr).toContain('Run the same command again')
    lab.control.heal()
    const run = /^Run (\S+) interrupted/.exec(stopped.stdout)?.[1] ?? ''
    expect((await sluice(['runs'], surroundings)).stdout).toMatch(
      new RegExp(`\n${run} +\\d{4}-\\d\\d-\\d\\d \\S+ +\\S+ m?s +interrupted +5 +cli-resumed +[\\d,]+ +0 +a.ndjson\n`),
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
    expect(done.stdout).toContain(`Nothing new. a.ndjson was loaded by run ${run} on `)
    expect(done.stdout).toContain('To load the file again, pass --again.')

    const listed = JSON.parse((await sluice(['runs', '--json'], surroundings)).stdout) as { runs: Receipt[] }
    expect(listed.runs).toMatchObject([
      { status: 'finished', index: 'cli-resumed', counts: { read: 0 } },
      { run, status: 'finished', index: 'cli-resumed', counts: { created: 3000 } },
    ])
    expect((await sluice(['runs', run], surroundings)).stdout).toContain(resumed.stdout)
    expect(await sluice(['runs', 'rm', `${run.slice(0, -1)}x`], surroundings)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`Did you mean ${run}?`) as string,
    })
    expect(await sluice(['runs', 'rm', run], surroundings)).toMatchObject({
      code: 0,
      stdout: `Run ${run} into cli-resumed is forgotten.\n`,
    })
    expect(await readdir(join(work.path, 'state', 'runs'))).not.toContain(`${run}.jsonl`)
  },
)

test(
  'runs lists what was refused and what found nothing new, and shows each receipt and failure again',
  { tags: 'long' },
  async () => {
    await using work = await folder()
    const env = { ...lab.env, SLUICE_STATE_DIR: join(work.path, 'state'), SLUICE_PREFLIGHT_CONNECTIONS: '1' }
    const run = async (args: readonly string[], more: Record<string, string> = {}) =>
      await sluice(args, { cwd: work.path, env: { ...env, ...more } })
    await writeFile(join(work.path, 'a.ndjson'), `${lines(5)}not json\n`)
    const load = ['ingest', 'a.ndjson', '--index', 'cli-history', '--json']
    const printed: string[] = []
    const key = Buffer.from('key-id:pl4nted-api-key').toString('base64')
    for (const [args, more] of [
      [load, {}],
      [load, {}],
      [['ingest', 'no.ndjson', '--index', 'cli-history', '--json'], {}],
      [[...load, '--again'], { ELASTICSEARCH_API_KEY: key }],
      [
        [...load, '--again'],
        {
          ELASTICSEARCH_URL: 'https://localhost:1',
          STATIC_PROXY_URL: '',
          SLUICE_DIRECT: 'true',
          SLUICE_MAX_ELAPSED: '1ms',
        },
      ],
      [['ingest', 'a.ndjson', '--json'], {}],
      [['replay', 'no.ndjson', '--json'], {}],
    ] as const)
      printed.push((await run(args, more)).stdout)
    const records = printed.map(line => JSON.parse(line) as Receipt)
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$/) as string
    for (const record of records)
      expect(record).toMatchObject({ run: expect.any(String) as string, began: time, ended: time })
    expect(records.map(({ command, exit, target: { index } }) => [command, exit, index])).toEqual([
      ['ingest', 1, 'cli-history'],
      ['ingest', 0, 'cli-history'],
      ['ingest', 2, 'cli-history'],
      ['ingest', 3, 'cli-history'],
      ['ingest', 4, 'cli-history'],
      ['ingest', 2, undefined],
      ['replay', 2, undefined],
    ])

    const { runs } = JSON.parse((await run(['runs', '--json'])).stdout) as { runs: Receipt[] }
    expect(runs.map(one => [one.run, one.exit])).toEqual(records.toReversed().map(one => [one.run, one.exit]))
    for (const [at, { run: id }] of records.entries()) {
      const shown = JSON.parse((await run(['runs', id, '--json'])).stdout) as Receipt
      // Before its run the command counts from its own start, and the library from its call.
      expect({ ...shown, began: '', ended: '' }).toEqual({ ...JSON.parse(printed[at] ?? ''), began: '', ended: '' })
    }
    const list = (await run(['runs'])).stdout.split('\n')
    for (const [at, what] of ['INPUT_NOT_FOUND', 'OPTION_INVALID', 'CLUSTER_', 'CLUSTER_AUTH_REJECTED'].entries())
      expect(list[at + 1]).toContain(what)
    expect(list[5]).toMatch(/INPUT_NOT_FOUND +2 /)
    expect(list[6]).toMatch(/nothing new +0 .*a\.ndjson$/)
    expect(list[7]).toMatch(/finished +1 .* cli-history +5 +1 +a\.ndjson$/)
    const refused = (await run(['runs', records[3]?.run ?? ''])).stdout
    expect(refused).toMatch(/failed, without a receipt\n.*\n {2}exit code +3\n\nerror: /s)
    for (const folderOfRuns of ['runs', 'history'])
      for (const name of await readdir(join(work.path, 'state', folderOfRuns)))
        expect(await readFile(join(work.path, 'state', folderOfRuns, name), 'utf8')).not.toMatch(/pl4nted|a2V5LWlk/)
  },
)

test('runs says what it can do, and shows a checkpoint that it cannot read', async () => {
  await using work = await folder()
  const env = { SLUICE_STATE_DIR: work.path }
  const surroundings = { cwd: work.path, env }
  for (const [args, said] of [
    [['rm'], 'rm needs a run'],
    [['remove', 'x'], "takes one run, or rm and a run, but got 'remove' and 'x'"],
    [['x'], "there is no run 'x'"],
    [['rm', 'x'], "there is no run 'x'"],
  ] as const) {
    const { code, stderr } = await sluice(['runs', ...args], surroundings)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(said) as string })
  }
  await mkdir(join(work.path, 'runs'))
  await writeFile(join(work.path, 'runs', 'k.json'), '{"version":9}')
  const { stdout } = await sluice(['runs'], surroundings)
  expect(stdout).toContain('a newer version of Sluice wrote it (version 9). To remove it, run sluice runs rm k.json\n')
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

test('without any state of its own, it is kept where programs keep such things', { tags: 'long' }, async () => {
  await using work = await folder()
  await writeFile(join(work.path, 'a.ndjson'), lines(3))
  const home = { ...lab.env, HOME: work.path, XDG_STATE_HOME: '' }
  const args = ['ingest', 'a.ndjson', '--index', 'cli-home', '--json']
  const { stdout } = await startSluice(args, { cwd: work.path, env: home }).ended
  expect((JSON.parse(stdout) as Receipt).checkpoint).toContain(join(work.path, '.local/state/sluice/runs/'))
  const xdg = { ...home, XDG_STATE_HOME: join(work.path, 'xdg') }
  const other = await startSluice(args, { cwd: work.path, env: xdg }).ended
  expect((JSON.parse(other.stdout) as Receipt).checkpoint).toContain(join(work.path, 'xdg/sluice/runs/'))
})

test('runs counts what is stored and what is deleted, not documents that were not there; a dry run has no speed', async () => {
  await using work = await folder()
  const env = { ...lab.env, SLUICE_STATE_DIR: join(work.path, 'state'), SLUICE_PREFLIGHT_CONNECTIONS: '1' }
  const surroundings = { cwd: work.path, env }
  await writeFile(join(work.path, 'a.ndjson'), lines(5))
  await writeFile(join(work.path, 'b.ndjson'), '{"n":1}\n{"n":2}\n{"n":97}\n{"n":98}\n{"n":99}\n')
  const command = (file: string) => ['ingest', file, '--index', 'cli-deleted', '--ids', 'field', '--id-field', 'n']
  const dry = await sluice([...command('a.ndjson'), '--dry-run'], surroundings)
  expect(dry.code).toBe(0)
  expect(dry.stdout).not.toContain('documents/s')
  const loaded = await sluice(command('a.ndjson'), surroundings)
  expect(loaded.stdout).toContain('documents/s')
  expect((await sluice([...command('b.ndjson'), '--op', 'delete'], surroundings)).code).toBe(0)
  const rows = (await sluice(['runs'], surroundings)).stdout
  expect(rows).toMatch(/finished +0 +cli-deleted +2 deleted +0 +b\.ndjson/)
  expect(rows).toMatch(/finished +0 +cli-deleted +5 +0 +a\.ndjson/)
})
