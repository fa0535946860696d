import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type Lab, startLab } from '../../src/lab/index.js'
import { folder, shell, sluice, startSluice } from './sluice.js'

// Each test starts processes.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())
afterEach(() => lab.control.heal())

const lines = (documents: number) => Array.from({ length: documents }, (_, n) => `{"n":${n}}\n`).join('')

test('a command that was killed goes on from its spool, and says that the end of stdin was never seen', async () => {
  await using work = await folder()
  const surroundings = { cwd: work.path, env: { ...lab.env, SLUICE_STATE_DIR: work.path, SLUICE_SPOOL: 'true' } }
  const command = ['ingest', '-', '--index', 'cli-spool', '--batch-docs', '10', '--concurrency', '1']
  lab.control.plant({ latencyMs: 20 })
  const load = startSluice(command, { ...surroundings, piped: true })
  load.child.stdin?.write(`${lines(2000)}{"torn`)
  await vi.waitFor(() => expect(lab.control.count('cli-spool')).toBeGreaterThan(100), { timeout: 30_000 })
  load.child.kill('SIGKILL')
  await load.ended
  lab.control.heal()

  const { code, stdout, stderr } = await sluice(command, surroundings)
  expect(code).toBe(5)
  expect(stdout).toMatch(/^Run \S+ interrupted after \S+ \S+: RUN_INTERRUPTED\n/)
  expect(stdout).toMatch(/2,000 read = [\d,]+ created( \+ \d+ duplicate)?, it balances/)
  expect(stdout).toContain('-: - has no end: 20896 bytes were spooled, the last 6 of them in the middle of a line')
  expect(stderr).toContain('error: interrupted (the end of stdin was never seen: -)')
  expect(lab.control.count('cli-spool')).toBe(2000)

  const next = await sluice(command, { ...surroundings, input: lines(3) })
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
    expect(stderr).toContain('so does stdin where it was spooled (--spool)')
    expect(/^ +spool +(.*)$/m.exec(stdout)?.[1] ?? '').toMatch(more.length === 0 ? /^$/ : `${work.path}/spool/`)
  }
})

test('a disk that takes no more stops the command, and loses nothing of what it took before', async () => {
  await using work = await folder()
  const surroundings = { cwd: work.path, env: { ...lab.env, SLUICE_STATE_DIR: work.path } }
  const command = 'ingest - --index cli-full --spool --json'
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
  // The producer can say it again.
  const again = await sluice(command.split(' '), { ...surroundings, input: lines(10_000) })
  expect(JSON.parse(again.stdout)).toMatchObject({ status: 'finished', read: 10_000 })
  expect(lab.control.count('cli-full')).toBe(10_000)
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
