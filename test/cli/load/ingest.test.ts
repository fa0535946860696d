import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/ledger/receipt.js'
import { folder, shell, sluice, startSluice } from '../../support/sluice.js'

// Each test starts processes.
let lab: Lab
beforeAll(async () => {
  lab = await startLab({ register: 'both', ports: 'random' })
})
afterAll(async () => {
  await lab.close()
})

const lines = (documents: number) => Array.from({ length: documents }, (_, n) => `{"n":${n}}\n`).join('')

describe('ingest', () => {
  test('loads a file through the proxy; the receipt shows where every document went, and by which way', async () => {
    await using work = await folder()
    await writeFile(join(work.path, 'logs.ndjson'), lines(2500))
    const { code, stdout, stderr } = await sluice(['ingest', 'logs.ndjson', '--index', 'cli-logs'], {
      cwd: work.path,
      env: lab.env,
    })
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stdout).toMatch(/^Run \S+ finished after /)
    expect(stdout).toContain('2,500 read = 2,500 created, it balances')
    expect(stdout).toMatch(/route +tunnel through http:\/\/127\.0\.0\.1:\d+, \d+ connections?\n/)
    for (const address of lab.line.staticIps) expect(stdout).toContain(address)
    expect(stdout).toContain(lab.line.cluster.url)
  })

  test('--json prints the receipt alone on stdout; stdin is -', async () => {
    await using work = await folder()
    const { code, stdout } = await sluice(['ingest', '-', '--index', 'cli-json', '--json'], {
      cwd: work.path,
      env: lab.env,
      input: lines(10),
    })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ status: 'finished', read: 10, created: 10, route: { form: 'tunnel' } })
  })

  test('elsewhere than on a terminal, progress is log lines on stderr; --quiet leaves them out', async () => {
    await using work = await folder()
    const run = async (...more: string[]) =>
      await sluice(['ingest', '-', '--index', 'cli-log', ...more], { cwd: work.path, env: lab.env, input: lines(10) })
    const logged = (await run()).stderr
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Record<string, unknown>)
    expect(logged).toContainEqual(expect.objectContaining({ level: 'info', cluster: lab.line.cluster.url }))
    expect(await run('--quiet')).toMatchObject({ code: 0, stderr: '' })
  })

  test('with --quiet and --json, one line on stderr reports rejected documents', async () => {
    await using work = await folder()
    const flags = ['--index', 'cli-mail', '--quiet', '--json', '--dead-letters', 'dead.ndjson']
    const ended = await sluice(['ingest', '-', ...flags], { cwd: work.path, env: lab.env, input: '{"n":1}\n[1]\n' })
    expect(ended).toMatchObject({
      code: 1,
      stderr: 'warning: 1 document rejected. Repair dead.ndjson, then run `sluice replay dead.ndjson`\n',
    })
  })

  test('rejected documents end in exit code 1, grouped by reason, without their values', async () => {
    await using work = await folder()
    const input = `${lines(3)}[1,"pl4nted-value"]\nnot json pl4nted-value\n`
    const { code, stdout, stderr } = await sluice(
      ['ingest', '-', '--index', 'cli-rejected', '--dead-letters', 'dead.ndjson'],
      {
        cwd: work.path,
        env: lab.env,
        input,
      },
    )
    expect(code).toBe(1)
    expect(stdout).toContain('5 read = 3 created + 2 rejected, it balances')
    expect(stdout).toMatch(/Rejected\n\n +2 +DOCUMENT_NOT_JSON +before sending/)
    expect(stdout).toMatch(/dead letters +dead\.ndjson/)
    expect(stdout + stderr).not.toContain('pl4nted-value')
    expect(await readFile(join(work.path, 'dead.ndjson'), 'utf8')).toContain('pl4nted-value')
  })

  test('a run that cannot begin ends with the code of its failure, and says what to change', async () => {
    await using work = await folder()
    const { code, stdout, stderr } = await sluice(['ingest', 'missing.ndjson', '--index', 'cli-missing'], {
      cwd: work.path,
      env: lab.env,
    })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('error: no such input: missing.ndjson\n')
    expect(stderr).toContain('  more:  sluice explain INPUT_NOT_FOUND')
  })

  test('wrong credentials are named with exit code 3; --json holds the failure', async () => {
    await using work = await folder()
    const env = { ...lab.env, ELASTICSEARCH_API_KEY: 'd3Jvbmc6d3Jvbmc=' }
    const { code, stdout } = await sluice(['ingest', '-', '--index', 'cli-401', '--json'], {
      cwd: work.path,
      env,
      input: lines(1),
    })
    expect(code).toBe(3)
    expect(JSON.parse(stdout)).toMatchObject({ status: 'failed', failure: { code: 'CLUSTER_AUTH_REJECTED', exit: 3 } })
  })

  test('a reader of the receipt that goes away changes nothing', async () => {
    await using work = await folder()
    await writeFile(join(work.path, 'logs.ndjson'), lines(10))
    const { code } = await shell('$SLUICE ingest logs.ndjson --index cli-head --quiet | true', {
      cwd: work.path,
      env: lab.env,
    })
    expect(code).toBe(0)
  })
})

describe('a signal', () => {
  test('lets what is under way finish: the receipt balances, exit code 5', async () => {
    await using work = await folder()
    const load = startSluice(['ingest', '-', '--index', 'cli-sigint', '--batch-docs', '1', '--json'], {
      cwd: work.path,
      env: lab.env,
      endless: '{"n":1}\n',
    })
    await load.printed('reading')
    load.child.kill('SIGINT')
    const { code, stdout, stderr } = await load.ended
    expect(stderr).toContain('SIGINT: finishing requests in flight. Press Ctrl-C again to stop now')
    expect(code).toBe(5)
    const receipt = JSON.parse(stdout) as Receipt
    expect(receipt).toMatchObject({ status: 'interrupted', failure: { code: 'RUN_INTERRUPTED', exit: 5 } })
    const { created, updated, deleted, noop, duplicate, rejected, skipped, unsent, unknown } = receipt
    expect(created + updated + deleted + noop + duplicate + rejected + skipped + unsent + unknown).toBe(receipt.read)
  })
})
