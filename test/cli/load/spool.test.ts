// @module-tag long
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { folder, shell, sluice, startSluice } from '../../support/command/sluice.js'
import { kill } from '../../support/command/kill.js'

// Each test starts processes.
let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())
afterEach(() => {
  lab.control.heal()
  lab.control.register('both')
})

const lines = (documents: number) => Array.from({ length: documents }, (_, n) => `{"n":${n}}\n`).join('')

test('a command that was killed goes on from its spool, and says that the end of stdin was never seen', async () => {
  await using work = await folder()
  const surroundings = { cwd: work.path, env: { ...lab.env, SLUICE_STATE_DIR: work.path, SLUICE_SPOOL: 'true' } }
  const command = ['ingest', '-', '--index', 'cli-spool', '--batch-docs', '10', '--concurrency', '1']
  lab.control.plant({ latencyMs: 20 })
  const load = startSluice(command, { ...surroundings, piped: true })
  load.child.stdin?.write(`${lines(2000)}{"torn`)
  await eventually(() => expect(lab.control.count('cli-spool')).toBeGreaterThan(100))
  await kill(load)
  lab.control.heal()

  const { code, stdout, stderr } = await sluice(command, surroundings)
  expect(code).toBe(5)
  expect(stdout).toMatch(/^Run \S+ interrupted after \S+ \S+: RUN_INTERRUPTED\n/)
  expect(stdout).toMatch(/2,000 read = [\d,]+ created( \+ \d+ duplicate)?, it balances/)
  expect(stdout).toContain('-: stdin was cut off after 20,896 bytes. Sluice loaded every complete document')
  expect(stderr).toContain('error: interrupted after 2,000 documents: stdin never ended')
  expect(lab.control.count('cli-spool')).toBe(2000)

  const next = await sluice(command, { ...surroundings, input: '{"m":1}\n{"m":2}\n{"m":3}\n' })
  expect(next).toMatchObject({ code: 0, stdout: expect.stringContaining('3 read = 3 created') as string })
  expect(await readdir(join(work.path, 'spool'))).toEqual([])
})

test('a stopped command names its spool; one without names the option', async () => {
  await using work = await folder()
  const surroundings = { cwd: work.path, env: { ...lab.env, SLUICE_STATE_DIR: work.path } }
  const command = ['ingest', '-', '--index', 'cli-stopped']
  for (const more of [[], ['--spool']]) {
    const load = startSluice([...command, ...more], { ...surroundings, piped: true })
    load.child.stdin?.write(lines(10))
    await load.printed('reading -')
    load.child.kill('SIGTERM')
    const { code, stdout, stderr } = await load.ended
    expect(code).toBe(5)
    expect(stderr).toContain(
      more.length === 0 ? 'or of spooled stdin (--spool), continues' : 'Files and spooled stdin (--spool) continue',
    )
    expect(/^ +spool +(.*)$/m.exec(stdout)?.[1] ?? '').toMatch(more.length === 0 ? /^$/ : `${work.path}/spool/`)
  }
})

test('a disk that takes no more stops the command, and loses nothing of what it took before', async () => {
  await using work = await folder()
  const surroundings = { cwd: work.path, env: { ...lab.env, SLUICE_STATE_DIR: work.path } }
  const command = 'ingest - --index cli-full --spool --run-id nightly --json'
  // No file may grow past 64 KiB.
  const { code, stdout } = await shell(`(ulimit -f 64; exec $SLUICE ${command})`, {
    ...surroundings,
    input: lines(10_000),
  })
  const receipt = JSON.parse(stdout) as { read: number }
  expect(receipt).toMatchObject({ status: 'failed', failure: { code: 'STATE_UNWRITABLE' } })
  expect(receipt.read).toBeGreaterThan(5000)
  expect(receipt.read).toBeLessThan(7000)
  expect(code).toBe(3)
  const again = await sluice(command.split(' '), { ...surroundings, input: lines(10_000) })
  expect(JSON.parse(again.stdout)).toMatchObject({ status: 'finished', rejected: 0 })
  expect(lab.control.count('cli-full')).toBe(10_000)
})

test('a disk that takes no more behind a load that has stopped is what the command ends with', async () => {
  await using work = await folder()
  const surroundings = { cwd: work.path, env: { ...lab.env, SLUICE_STATE_DIR: work.path } }
  await writeFile(join(work.path, 'few'), lines(100))
  await writeFile(join(work.path, 'many'), lines(10_000))
  lab.control.plant({ bulk: { after: 0, status: 503 } })
  const producer = '{ cat few; until grep -q "load has stopped" errors; do sleep 0.1; done; cat many; }'
  const command = 'ingest - --index cli-lost --spool --run-id nightly --max-elapsed 1ms --json'
  const line = `touch errors; ${producer} | (ulimit -f 64; exec $SLUICE ${command} 2>errors)`
  const { code, stdout } = await shell(line, surroundings)
  expect(code).toBe(3)
  const receipt = JSON.parse(stdout) as { failure: { message: string } }
  expect(receipt).toMatchObject({ status: 'failed', failure: { code: 'STATE_UNWRITABLE' } })
  expect(receipt.failure.message).toMatch(/\. Sluice read stdin only up to byte 65,536$/)
  const errors = await readFile(join(work.path, 'errors'), 'utf8')
  expect(errors).toMatch(/the load has stopped, but Sluice still spools stdin to its end \(CLUSTER_/)
  expect(errors).toContain('Sluice read stdin only up to byte 65,536')
  lab.control.heal()
  const again = await shell(
    'cat few many | $SLUICE ingest - --index cli-lost --spool --run-id nightly --json',
    surroundings,
  )
  expect(JSON.parse(again.stdout)).toMatchObject({ status: 'finished', rejected: 0 })
  expect(lab.control.count('cli-lost')).toBe(10_100)
})

test('runs shows what is spooled, and rm deletes it with its run', async () => {
  await using work = await folder()
  const surroundings = { cwd: work.path, env: { ...lab.env, SLUICE_STATE_DIR: work.path } }
  const command = ['ingest', '-', '--index', 'cli-kept', '--spool', '--batch-docs', '10', '--concurrency', '1']
  lab.control.register('none')
  const refused = await sluice(command, { ...surroundings, input: lines(100) })
  expect(refused.code).toBe(3)
  const [spool = ''] = await readdir(join(work.path, 'spool'))
  expect((await sluice(['runs'], surroundings)).stdout).toMatch(
    new RegExp(
      `\nspool of no run +written +spooled +folder\n${spool} +\\S+ \\S+ +890 B +${work.path}/spool/${spool}\n$`,
    ),
  )
  expect(await sluice(['runs', 'rm', spool], surroundings)).toMatchObject({
    code: 0,
    stdout: `890 B of spooled stdin deleted: ${work.path}/spool/${spool}\n`,
  })
  expect(await readdir(join(work.path, 'spool'))).toEqual([])

  lab.control.register('both')
  lab.control.plant({ latencyMs: 20 })
  const load = startSluice(command, { ...surroundings, piped: true })
  load.child.stdin?.write(lines(2000))
  await eventually(() => expect(lab.control.count('cli-kept')).toBeGreaterThan(100))
  const listed = JSON.parse((await sluice(['runs', '--json'], surroundings)).stdout) as { runs: { run: string }[] }
  expect(listed).toMatchObject({ runs: [{ spool: { spool, bytes: 20_890 } }, { exit: 3 }], spools: [] })
  const run = listed.runs[0]?.run ?? ''
  const live = await sluice(['runs', 'rm', run], surroundings)
  expect(live).toMatchObject({ code: 6, stderr: expect.stringContaining('RUN_LOCKED') as string })
  await kill(load)
  lab.control.heal()

  expect((await sluice(['runs'], surroundings)).stdout).toMatch(/\n\S+ +\S+ \S+ .*cli-kept +\d+ +0 +20\.9 kB +-\n/)
  expect(await sluice(['runs', 'rm', run], surroundings)).toMatchObject({
    code: 0,
    stdout: `Run ${run} into cli-kept is forgotten, and 20.9 kB of spooled stdin deleted.\n`,
  })
  expect(await readdir(join(work.path, 'spool'))).toEqual([])
  const next = await sluice(command, { ...surroundings, input: '{"m":1}\n{"m":2}\n{"m":3}\n' })
  expect(next.stdout).toContain('3 read = 3 created')
})

test('a spool that a process without a run is at is not deleted', async () => {
  await using work = await folder()
  const surroundings = { cwd: work.path, env: { ...lab.env, SLUICE_STATE_DIR: work.path } }
  lab.control.register('none')
  const load = startSluice(['ingest', '-', '--index', 'cli-live', '--spool'], { ...surroundings, piped: true })
  load.child.stdin?.write(lines(10))
  await load.printed('the load has stopped')
  const [spool = ''] = await readdir(join(work.path, 'spool'))
  const refused = await sluice(['runs', 'rm', spool], surroundings)
  expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining('RUN_LOCKED') as string })
  load.child.stdin?.end()
  expect((await load.ended).code).toBe(3)
  expect((await sluice(['runs', 'rm', spool], surroundings)).code).toBe(0)
})

test('files need no spool, and are told so', async () => {
  const { code, stderr } = await sluice(['ingest', 'package.json', '--index', 'none', '--spool'], {
    cwd: process.cwd(),
    env: lab.env,
  })
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('none of the inputs is stdin') as string,
  })
})
