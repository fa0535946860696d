import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { type Ended, folder } from '../../support/command/sluice.js'

let lab: Lab
beforeAll(async () => void (lab = await startLab()))
afterAll(async () => await lab.close())

type Line = Readonly<Record<string, unknown>>

/** Every line of stderr. Throws if one is no JSON. */
function linesOf({ stderr }: Ended): Line[] {
  return stderr
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line) as Line)
}

/** As a scheduler runs it: without a terminal, and without the choice that the other tests make. */
async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}, input = '{"n":1}\n{"n":2}\n') {
  await using work = await folder()
  return await sluice(args, { cwd: work.path, env: { ...lab.env, SLUICE_LOG_FORMAT: '', ...env }, input })
}

const ingest = ['ingest', '-', '--index', 'logged']

describe('elsewhere than on a terminal, stderr is lines of JSON', () => {
  test('each has a time, a level and an event. The last one says how the run ended', async () => {
    const ended = await run(ingest)
    expect(ended.code).toBe(0)
    const lines = linesOf(ended)
    for (const line of lines)
      expect(line).toMatchObject({
        level: expect.stringMatching(/^(info|warn|error)$/) as string,
        time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        event: expect.stringMatching(/^\w+$/) as string,
        msg: expect.any(String) as string,
      })
    expect(lines.map(({ event }) => event)).toEqual(expect.arrayContaining(['preflight', 'input', 'finished']))
    expect(lines.at(-1)).toMatchObject({ event: 'finished', exit: 0, read: 2, created: 2, rejected: 0 })
    const { run: id } = lines.at(-1) as { run: string }
    expect(ended.stdout).toContain(id)
    expect(lines.find(({ event }) => event === 'input')).toMatchObject({ run: id })
  })

  test('a failure has its code, exit code, and next step', async () => {
    lab.control.register('none')
    lab.control.forgetConnections()
    try {
      const ended = await run(ingest)
      expect(ended.code).toBe(3)
      expect(linesOf(ended).at(-1)).toMatchObject({
        level: 'error',
        event: 'failed',
        code: 'EGRESS_NOT_ALLOWED',
        exit: 3,
        retry: 'no',
        next: expect.stringMatching(/\S/) as string,
      })
    } finally {
      lab.control.register('both')
    }
  })

  test('a run with rejected documents ends with their number and the dead letters', async () => {
    const ended = await run(ingest, {}, '{"n":1}\nno JSON\n')
    expect(ended.code).toBe(1)
    const last = linesOf(ended).at(-1)
    expect(last).toMatchObject({ level: 'warn', event: 'finished', exit: 1, rejected: 1, created: 1 })
    expect(last?.['deadLetters']).toMatch(/\.ndjson$/)
  })

  test.each([
    ['an unknown option', [...ingest, '--indx', 'x'], {}],
    ['a wrong value', [...ingest, '--concurrency', 'many'], {}],
    ['a missing option', ['ingest', '-'], {}],
    ['a warning of the settings', ingest, { SLUICE_INDX: 'x' }],
    ['a table without an instance', ['pull', 'servicenow:incident'], {}],
    ['dead letters that are not there', ['replay', 'none.ndjson'], {}],
  ])('also for %s', async (_, args, env) => {
    const ended = await run(args, env)
    expect(linesOf(ended).length).toBeGreaterThan(0)
    if (ended.code !== 0) expect(linesOf(ended).at(-1)).toMatchObject({ event: 'failed', exit: ended.code })
  })

  test('not for commands that a person reads', async () => {
    const { code, stderr } = await run(['doctor', '--concurrency', 'many'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^error: /)
  })
})

describe('--log-format chooses', () => {
  const wrong = [...ingest, '--op', 'nothing']

  test.each([
    ['a flag', ['--log-format', 'text'], {}],
    ['a flag with its value', ['--log-format=text'], {}],
    ['the environment', [], { SLUICE_LOG_FORMAT: 'text' }],
  ])('text by %s', async (_, flags, env) => {
    expect((await run([...wrong, ...flags], env)).stderr).toMatch(/^error: /)
    const { code, stderr } = await run([...ingest, ...flags], env)
    expect(code).toBe(0)
    expect(stderr).toMatch(/^reached .*\n/m)
    expect(stderr).not.toContain('{')
  })

  test('--quiet prints text for a mail, or nothing. With --log-format json it prints JSON, or nothing', async () => {
    expect((await run([...wrong, '--quiet'])).stderr).toMatch(/^error: /)
    const asked = [...ingest, '--quiet', '--log-format', 'json']
    expect(await run(asked)).toMatchObject({ code: 0, stderr: '' })
    const lines = linesOf(await run(asked, {}, '{"n":1}\nno JSON\n'))
    expect(lines.at(-1)).toMatchObject({ event: 'finished', exit: 1, rejected: 1 })
  })

  test('no other form', async () => {
    const { code, stderr } = await run([...ingest, '--log-format', 'xml'])
    expect(code).toBe(2)
    expect(stderr).toContain('is not one of text, json')
  })
})
