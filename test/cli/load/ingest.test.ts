import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/pipeline/ledger/receipt.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder, sluice as sluiceElsewhere, shell, startSluice } from '../../support/command/sluice.js'

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
    const { code, stdout, stderr } = await sluiceElsewhere(['ingest', 'logs.ndjson', '--index', 'cli-logs'], {
      cwd: work.path,
      env: { ...lab.env, SLUICE_PREFLIGHT_CONNECTIONS: '16' },
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

  test(
    'elsewhere than on a terminal, progress is log lines on stderr; --quiet leaves them out',
    { tags: 'long' },
    async () => {
      await using work = await folder()
      const run = async (...more: string[]) =>
        await sluice(['ingest', '-', '--index', 'cli-log', ...more], {
          cwd: work.path,
          env: { ...lab.env, SLUICE_LOG_FORMAT: '' },
          input: lines(10),
        })
      const logged = (await run()).stderr
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line) as Record<string, unknown>)
      expect(logged).toContainEqual(expect.objectContaining({ level: 'info', cluster: lab.line.cluster.url }))
      expect(await run('--quiet')).toMatchObject({ code: 0, stderr: '' })
    },
  )

  test('with --quiet, stderr is one paragraph for a mail, or nothing', async () => {
    await using work = await folder()
    const letters = join(work.path, 'dead.ndjson')
    const load = async (input: string, ...more: string[]) =>
      await sluice(['ingest', '-', '--index', 'cli-mail', '--quiet', '--dead-letters', 'dead.ndjson', ...more], {
        cwd: work.path,
        env: lab.env,
        input,
      })
    expect(await load('{"n":1}\n')).toMatchObject({ code: 0, stdout: '', stderr: '' })
    const mail = [
      'error: 1 of 2 documents was rejected',
      '  cause: 1 DOCUMENT_NOT_JSON (before sending, first: -, line 2)',
      '  run:   RUN: 2 read = 1 created + 1 rejected, it balances',
      `  dead letters: ${letters}`,
      '  fix:   A document is not a JSON object. Write one JSON object per line, or use --format json for a JSON array. The dead letters hold the original line and its position.',
      `  next:  Repair the documents in the dead letters, and run \`sluice replay ${letters}\`.`,
      '',
    ].join('\n')
    for (const more of [[], ['--json']]) {
      const { code, stdout, stderr } = await load('{"n":1}\n[1]\n', ...more)
      expect({ code, mail: stderr.replace(/\w+-[0-9a-f]{6}(?=:)/, 'RUN') }).toEqual({ code: 1, mail })
      expect(stdout === '').toBe(more.length === 0)
    }
  })

  test('with --quiet, what a run warned of is in the mail of a failure only', async () => {
    await using work = await folder()
    await writeFile(join(work.path, 'cut.gz'), gzipSync(lines(1000)).subarray(0, 300))
    const args = ['ingest', 'cut.gz', '--index', 'cli-cut', '--quiet']
    const { code, stdout, stderr } = await sluice(args, { cwd: work.path, env: lab.env })
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toMatch(/^warning: cut\.gz is truncated.*\nerror: cut\.gz is truncated/)
    expect(stderr).toMatch(/\n {2}run: {3}\S+: \d+ read = .*\n/)
    expect(stderr.trimEnd()).not.toContain('\n\n')
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
    expect(stdout).toMatch(/Rejected\n\n +2 +DOCUMENT_NOT_JSON +before sending, first: -, line 4\n/)
    expect(stdout).toMatch(/dead letters +dead\.ndjson/)
    expect(stdout + stderr).not.toContain('pl4nted-value')
    expect(await readFile(join(work.path, 'dead.ndjson'), 'utf8')).toContain('pl4nted-value')
  })

  test('documents that are there already are shown with what to do, and nobody is told to repair them', async () => {
    await using work = await folder()
    await writeFile(join(work.path, 'a.ndjson'), '{"id":"cli-409","n":1}\n')
    const load = async (...more: string[]) =>
      await sluice(['ingest', 'a.ndjson', '--index', 'cli-409', '--ids', 'field', '--id-field', 'id', ...more], {
        cwd: work.path,
        env: lab.env,
      })
    await load('--op', 'create')
    const again = await load('--op', 'create', '--again')
    expect(again.stdout).toMatch(/version_conflict_engine_exception +status 409, first: a\.ndjson, line 1\n/)
    const advice = /in the index already\. .*--op index\. .*--on-conflict skip\.\n/
    expect(again.stdout).toMatch(advice)
    const { stderr } = await load('--op', 'create', '--again', '--quiet')
    expect(stderr).toMatch(advice)
    expect(stderr).not.toContain('Repair')
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
    expect(stderr).toContain('SIGINT: finishing open requests. Press Ctrl-C again to stop now')
    expect(stderr).toMatch(
      /error: .*: SIGINT\. Sluice keeps no position in this input\n {2}cause: Somebody pressed Ctrl-C.*\n {2}fix: .*starts from the beginning/,
    )
    expect(stderr).not.toContain('continue after')
    expect(code).toBe(5)
    const receipt = JSON.parse(stdout) as Receipt
    expect(receipt).toMatchObject({ status: 'interrupted', failure: { code: 'RUN_INTERRUPTED', exit: 5 } })
    const { created, updated, deleted, noop, duplicate, rejected, skipped, unsent, unknown } = receipt
    expect(created + updated + deleted + noop + duplicate + rejected + skipped + unsent + unknown).toBe(receipt.read)
  })
})
