import { execFileSync } from 'node:child_process'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { longUnless } from '../../support/long.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/pipeline/ledger/receipt.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { type Ended, type Folder, folder, startSluice } from '../../support/command/sluice.js'

// Each test starts processes.
let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

const good = '{"total":1}\n'
const bad = '{"total":"hunter2-total"}\n["hunter2-array"]\n'

/** Runs in a folder with a state of its own. */
async function at(work: Folder, args: readonly string[], env: Record<string, string> = {}, input = ''): Promise<Ended> {
  const own = { SLUICE_STATE_DIR: join(work.path, 'state'), SLUICE_PREFLIGHT_CONNECTIONS: '1' }
  return await sluice(args, { cwd: work.path, env: { ...lab.env, ...own, ...env }, input })
}

/** A file of two dead letters: a field of another kind, and a line that is an array. */
async function refusedInto(work: Folder, index: string): Promise<string> {
  await writeFile(join(work.path, 'in.ndjson'), good + bad)
  const { code } = await at(work, ['ingest', 'in.ndjson', '--index', index, '--dead-letters', 'dead.ndjson'])
  expect(code).toBe(1)
  return await readFile(join(work.path, 'dead.ndjson'), 'utf8')
}

/** An index that takes no writes, made through the filter while that is open to everybody. */
async function readOnly(index: string): Promise<void> {
  lab.control.register('everyone')
  const { httpUrl, apiKey } = lab.line.cluster
  const headers = { authorization: `ApiKey ${apiKey}`, 'content-type': 'application/json' }
  for (const [path, body] of [
    [index, '{}'],
    [`${index}/_settings`, '{"index.blocks.write":true}'],
  ] as const) {
    const { status } = await fetch(`${httpUrl}/${path}`, { method: 'PUT', headers, body })
    expect(status).toBe(200)
  }
  lab.control.register('both')
}

const repair = (text: string) =>
  text.replace('"hunter2-total"', '2').replace(/"line":"\[.*?\]"/, '"document":{"total":3}')

describe('sluice replay', () => {
  test('sends repaired documents again, and says that nothing is left of the file', async () => {
    await using work = await folder()
    const text = await refusedInto(work, 'replayed')
    const once = await at(work, ['replay', 'dead.ndjson'])
    expect(once.code).toBe(1)
    const left = /(\S+\.ndjson)\. Replay this file next/.exec(once.stdout)?.[1] ?? ''
    expect(once.stdout).toContain(`\n2 documents left, in ${left}. Replay this file next.\n`)
    expect(left).toMatch(/^sluice-dead-letters-\d{8}T\d{6}Z-[0-9a-f]{6}\.ndjson$/)
    // Nothing of it was changed.
    expect(await readFile(join(work.path, 'dead.ndjson'), 'utf8')).toBe(text)

    // The same command again stores nothing, and does not say otherwise.
    const same = await at(work, ['replay', 'dead.ndjson'])
    expect(same.stdout).not.toContain('You can delete')
    expect(same.stderr).toContain(`${left}. Correct them and run`)

    await writeFile(join(work.path, left), repair(await readFile(join(work.path, left), 'utf8')))
    const twice = await at(work, ['replay', left])
    expect(twice).toMatchObject({ code: 0, stderr: expect.not.stringContaining('error') as string })
    expect(twice.stdout).toContain('2 read = 2 created, it balances')
    expect(twice.stdout).toContain(`\nEvery document in ${left} is stored. You can delete the file.\n`)
    expect(lab.control.count('replayed')).toBe(3)
    expect(await readdir(work.path)).toContain(left)
  })

  test(
    'that is refused is not told what stands in the way of an index that none of it goes to',
    { tags: 'long' },
    async () => {
      await using work = await folder()
      await refusedInto(work, 'replay-busy')
      await readOnly('replay-frozen')
      lab.control.plant({ bulk: { status: 503 } })
      const env = { SLUICE_INDEX: 'replay-frozen', SLUICE_MAX_ELAPSED: '1ms' }
      const ended = await at(work, ['replay', 'dead.ndjson'], env)
      lab.control.heal()
      expect(ended).toMatchObject({ code: 4, stderr: expect.stringContaining('CLUSTER_UNAVAILABLE') as string })
    },
  )

  test('knows the index and pipeline itself: what is set for loads in general does not count, a flag does', async () => {
    await using work = await folder()
    await writeFile(join(work.path, 'dead.ndjson'), repair(await refusedInto(work, 'meant')))
    await writeFile(join(work.path, 'sluice.config.json'), JSON.stringify({ index: 'general', ids: 'cluster' }))
    const general = { SLUICE_PIPELINE: 'missing', SLUICE_RUN_ID: 'nightly' }
    const ended = await at(work, ['replay', 'dead.ndjson', '--json'], general)
    expect(ended.code).toBe(0)
    expect((JSON.parse(ended.stdout) as Receipt).run).not.toBe('nightly')
    expect([lab.control.count('meant'), lab.control.count('general')]).toEqual([3, 0])
    const flags = ['replay', 'dead.ndjson', '--json', '--index', 'told']
    expect(await at(work, flags, general)).toMatchObject({ code: 0 })
    expect(lab.control.count('told')).toBe(2)
    expect((await at(work, [...flags, '--again', '--pipeline', 'missing'])).stderr).toContain('pipeline')
  })

  test('goes on after an interruption, also where its glob finds what it wrote itself', { tags: 'long' }, async () => {
    await using work = await folder()
    const name = 'sluice-dead-letters-1.ndjson'
    const many = Array.from({ length: 1000 }, (_, n) => `{"total":"x${n}"}\n`).join('')
    await writeFile(join(work.path, 'in.ndjson'), good + many)
    await at(work, ['ingest', 'in.ndjson', '--index', 'interrupted', '--dead-letters', name])
    const command = ['replay', 'sluice-dead-letters-*.ndjson', '--json', '--batch-docs', '10', '--concurrency', '1']
    const own = { ...lab.env, SLUICE_STATE_DIR: join(work.path, 'state'), SLUICE_PREFLIGHT_CONNECTIONS: '1' }
    lab.control.plant({ latencyMs: 20 })
    const running = startSluice(command, { cwd: work.path, env: own })
    const written = async () => (await readdir(work.path)).filter(one => one.startsWith('sluice-dead-letters-'))
    await eventually(async () => expect(await written()).toHaveLength(2))
    running.child.kill('SIGTERM')
    const stopped = await running.ended
    lab.control.heal()
    expect(stopped.code).toBe(5)
    const resumed = await at(work, command)
    expect(resumed.code).toBe(1)
    const receipt = JSON.parse(resumed.stdout) as Receipt
    expect(receipt).toMatchObject({ run: (JSON.parse(stopped.stdout) as Receipt).run, read: 1000, rejected: 1000 })
    const again = (await readFile(join(work.path, receipt.deadLetters ?? ''), 'utf8')).trimEnd().split('\n')
    const idOf = (line: string) => (JSON.parse(line) as { id: string }).id
    expect(new Set(again.map(idOf)).size).toBe(1000)
    expect(again).toHaveLength(1000)
  })

  test('prints one receipt with --json, and reads stdin where the index is told', async () => {
    await using work = await folder()
    const text = repair(await refusedInto(work, 'piped'))
    const ended = await at(work, ['replay', '-', '--index', 'piped', '--json'], {}, text)
    expect(ended.code).toBe(0)
    expect(JSON.parse(ended.stdout)).toMatchObject({ read: 2, created: 2, inputs: [{ name: '-' }] })
    const untold = await at(work, ['replay', '-'], {}, text)
    expect([untold.code, untold.stderr]).toEqual([2, expect.stringContaining('can be read only once')])
  })

  test('refuses what holds no dead letters, and flags that the dead letters say themselves', async () => {
    await using work = await folder()
    await writeFile(join(work.path, 'in.ndjson'), good)
    const wrong = await at(work, ['replay', 'in.ndjson'])
    expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining('none of its lines is a dead letter')])
    expect((await at(work, ['replay', 'in.ndjson', '--ids', 'field'])).code).toBe(2)
    expect((await at(work, ['replay'])).code).toBe(2)
    expect((await at(work, ['replay', 'missing.ndjson'])).code).toBe(2)
  })
})

describe('dead letters', () => {
  test('that are a pipe are refused at once, instead of waiting for a reader', async () => {
    await using work = await folder()
    execFileSync('mkfifo', [join(work.path, 'pipe')])
    for (const [name, problem] of [
      ['pipe', 'it is a pipe or socket, not a file'],
      ['.', 'it is a directory'],
    ] as const) {
      const ended = await at(work, ['ingest', '-', '--index', 'pipes', '--dead-letters', name], {}, good)
      expect([ended.code, ended.stderr]).toEqual([3, expect.stringContaining(problem)])
    }
    expect(lab.control.count('pipes')).toBe(0)
  })
})

describe('values of documents', () => {
  const secret = 'hunter2'
  const source = `{"k":"${secret}"}`
  const shard = `[i][0] primary shard is not active Timeout: [1m], request: [BulkShardRequest [[i][0]] containing [index {[i][x], source[${source}]}]]`
  const parser = {
    root_cause: [],
    type: 'x_content_parse_exception',
    reason: `[1:3] Unexpected character\n at [Source: (byte[])"${source}"; line: 1, column: 3]`,
  }
  const troubles: readonly [string, Parameters<Lab['control']['plant']>[0]][] = [
    ['items are refused', {}],
    [
      'items are busy for a while',
      { items: { times: 3, status: 503, type: 'unavailable_shards_exception', reason: shard } },
    ],
    [
      'items are busy for longer than allowed',
      { items: { status: 503, type: 'unavailable_shards_exception', reason: shard } },
    ],
    ['the index is blocked', { items: { status: 403, type: 'cluster_block_exception', reason: shard } }],
    [
      'a pipeline’s author quotes them',
      { items: { status: 400, type: 'fail_processor_exception', reason: `field [${secret}] is not ours` } },
    ],
    ['whole requests are refused', { bulk: { status: 400, body: JSON.stringify({ error: parser, status: 400 }) } }],
  ]

  const ordinary = ['items are refused', 'items are busy for longer than allowed', 'whole requests are refused']
  for (const [_, faults] of troubles)
    test(
      `stay out of all that is printed and kept but the dead letters, where ${_}`,
      longUnless(ordinary.includes(_)),
      async () => {
        await using work = await folder()
        const index = `private-${troubles.findIndex(([name]) => name === _)}`
        await writeFile(
          join(work.path, 'in.ndjson'),
          `${good}${bad}{"total":{"deep":"${secret}"}}\n${secret}\n{"k":"${secret}"\n"${secret}"\n{"k":"${secret}","total":true}\n`,
        )
        const flags = ['--index', index, '--dead-letters', 'dead.ndjson', '--max-elapsed', '500ms']
        for (const more of [[], ['--json', '--again'], ['--ids', 'field', '--id-field', 'k', '--again', '--quiet']]) {
          lab.control.heal()
          lab.control.plant(faults)
          const { stdout, stderr, code } = await at(work, ['ingest', 'in.ndjson', ...flags, ...more])
          expect(code).not.toBe(70)
          expect(stdout + stderr).not.toContain(secret)
        }
        lab.control.heal()
        const dead = await readFile(join(work.path, 'dead.ndjson'), 'utf8')
        expect(dead).toContain(secret)
        const again = await at(work, ['replay', 'dead.ndjson', '--dead-letters', 'again.ndjson', '--json'])
        expect(again.stdout + again.stderr).not.toContain(secret)
        expect((JSON.parse(again.stdout) as Receipt).read).toBeGreaterThan(0)
        const runs = join(work.path, 'state', 'runs')
        for (const name of await readdir(runs)) expect(await readFile(join(runs, name), 'utf8')).not.toContain(secret)
      },
    )
})
