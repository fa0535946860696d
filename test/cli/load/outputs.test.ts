// @module-tag long
import { existsSync, writeFileSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { folder, shell, startSluice } from '../../support/command/sluice.js'

// Each test starts processes.
let lab: Lab
beforeAll(async () => {
  lab = await startLab({ register: 'both', ports: 'random' })
})
afterAll(async () => await lab.close())

describe.runIf(existsSync('/dev/full'))('on a full disk', () => {
  const input = '{"n":1}\n{"n":2}\n'

  test('a log that cannot be written does not stop the load', async () => {
    await using work = await folder()
    const line = '$SLUICE ingest - --index full-log --json 2>/dev/full'
    const { code, stdout } = await shell(line, { cwd: work.path, env: lab.env, input })
    expect({ code, receipt: JSON.parse(stdout) as unknown }).toMatchObject({ code: 0, receipt: { created: 2 } })
  })

  test('a load that fails keeps its exit code, although its receipt cannot be written', async () => {
    await using work = await folder()
    const line = '$SLUICE ingest - --index full-failure --json >/dev/full'
    const env = { ...lab.env, ELASTICSEARCH_API_KEY: 'wrong' }
    const { code, stderr } = await shell(line, { cwd: work.path, env, input })
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('CLUSTER_AUTH_REJECTED') as string })
  })

  test.each(['--json', '--batch-docs=1'])('a receipt that cannot be written is said on stderr (%s)', async flag => {
    await using work = await folder()
    const index = `full-receipt${flag.replace('=', '')}`
    const line = `$SLUICE ingest - --index ${index} ${flag} >/dev/full`
    const { code, stderr } = await shell(line, { cwd: work.path, env: lab.env, input })
    expect(stderr).toMatch(/error: cannot write the result to stdout \(ENOSPC\).* exit code 0\n$/)
    expect(stderr).not.toContain('    at ')
    expect({ code, stored: lab.control.count(index) }).toEqual({ code: 70, stored: 2 })
  })
})

test('dead letters do not go through a link that lies in the working folder', async () => {
  await using work = await folder()
  const profile = join(work.path, 'profile')
  await symlink(profile, join(work.path, 'sluice-dead-letters-night.ndjson'))
  const input = '{"n":1}\n$(date)\n'
  const asked = { cwd: work.path, env: lab.env, input }
  const { code, stderr } = await shell('$SLUICE ingest - --index linked --run-id night', asked)
  expect({ code: code !== 0, isWritten: existsSync(profile) }).toEqual({ code: true, isWritten: false })
  expect(stderr).toContain('it is a symbolic link')
  await shell('$SLUICE ingest - --index linked --dead-letters ./sluice-dead-letters-night.ndjson', asked)
  expect(existsSync(profile)).toBe(true)
})

test.each([
  ['an exception', 'throw new Error("boom")'],
  ['a rejection', 'void Promise.reject(new Error("boom"))'],
])('%s that nobody catches ends in exit code 70', async (_, statement) => {
  const preload = `data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2', () => { ${statement} })`)}`
  const running = startSluice(['lab', '--json'], { env: { NODE_OPTIONS: `--import=${preload}` } })
  await running.printed('"proxy"')
  running.child.kill('SIGUSR2')
  const { code, stderr } = await running.ended
  expect(stderr).toContain('Error: boom')
  expect(stderr).toContain('sluice explain INTERNAL')
  expect(code).toBe(70)
})

describe('a reader that is slow gets all of it', () => {
  test('a receipt that is larger than a pipe, and one that takes only its beginning gets no error', async () => {
    await using work = await folder()
    for (let n = 0; n < 2000; n += 1) writeFileSync(join(work.path, `${n}.ndjson`), `{"n":${n}}\n`)
    const load = "$SLUICE ingest '*.ndjson' --index slow --json --quiet"
    const asked = { cwd: work.path, env: lab.env }
    const { code, stdout } = await shell(`${load} | (sleep 1; cat)`, asked)
    expect(JSON.parse(stdout)).toMatchObject({ status: 'finished', created: 2000 })
    expect({ code, isLarge: stdout.length > 100_000 }).toEqual({ code: 0, isLarge: true })
    const early = await shell(`${load} --again | head -c 9`, asked)
    expect(early).toMatchObject({ code: 0, stdout: '{"run":"2', stderr: '' })
  })

  test('also the account of a bug', async () => {
    const written = 'process.stderr.write("x".repeat(1 << 20)); throw new Error("boom")'
    const preload = `data:text/javascript,${encodeURIComponent(`setTimeout(() => { ${written} }, 10)`)}`
    const env = { ...lab.env, NODE_OPTIONS: `--import=${preload}` }
    const { code, stdout } = await shell('$SLUICE lab 2>&1 >/dev/null | (sleep 1; cat)', { env })
    expect(stdout.startsWith('x'.repeat(1 << 20))).toBe(true)
    expect(stdout).toContain('sluice explain INTERNAL')
    expect(code).toBe(70)
  })
})
