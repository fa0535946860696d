import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder, shell, startSluice } from '../../support/command/sluice.js'

// Each test starts processes.
let lab: Lab
let env: Record<string, string>
beforeAll(async () => {
  lab = await startLab()
  lab.control.servicenow.seed('incident', 3000)
  env = { ...lab.env, SLUICE_SERVICENOW_CA: lab.line.cluster.caFile, SLUICE_PREFLIGHT_CONNECTIONS: '1' }
})
afterAll(async () => await lab.close())
beforeEach(() => lab.control.servicenow.heal())

test('rows go to stdout, and what there is to say to stderr', async () => {
  await using work = await folder()
  const { code, stdout, stderr } = await sluice(['pull', 'servicenow:incident', '--query', 'state=1'], {
    cwd: work.path,
    env,
  })
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as unknown)
  const stored = lab.control.servicenow
    .rows('incident', 'state=1')
    .toSorted((a, b) => compare(a['sys_id'], b['sys_id']))
  expect(rows).toEqual(stored)
  expect(stderr).toMatch(new RegExp(`^${stored.length} rows of incident, \\d+\\.\\d kB, \\d+.*\n$`))
  expect(code).toBe(0)
})

test('a reader that has read enough ends it', async () => {
  await using work = await folder()
  const line = '$SLUICE pull servicenow:incident --page-size 100 | head -1 | wc -l; echo ${PIPESTATUS[0]}'
  const { stdout, stderr } = await shell(line, { cwd: work.path, env })
  expect({ stdout, stderr }).toEqual({ stdout: '1\n0\n', stderr: '' })
})

test('a disk that is full is named', async () => {
  await using work = await folder()
  const { code, stderr } = await shell('$SLUICE pull servicenow:incident --quiet >/dev/full', { cwd: work.path, env })
  expect(stderr).toContain('error: cannot write the result to stdout (ENOSPC)')
  expect(code).toBe(70)
})

test('an interruption ends it with exit code 5', async () => {
  await using work = await folder()
  lab.control.servicenow.plant({ stall: { after: 5, api: 'table' } })
  const pull = startSluice(['pull', 'servicenow:incident', '--page-size', '500'], { cwd: work.path, env })
  await pull.printed('\n')
  pull.child.kill('SIGINT')
  const { code, stderr } = await pull.ended
  expect(stderr).toMatch(/error: interrupted \(SIGINT\): [\d,]+ rows of incident written/)
  expect(code).toBe(5)
})

test.each([
  [['incident'], 2, /'incident' is not a table. Write it as in servicenow:incident/],
  [['servicenow:incident', '--query', 'actve=true'], 2, /does not understand actve=true.*there is no field actve/],
  [['servicenow:incident', '--query', 'active=true^ORDERBYnumber'], 2, /--query: ORDERBYnumber is not allowed/],
  [['servicenow:incident', '--page-size', '0'], 2, /--page-size/],
  [['servicenow:incidents'], 2, /has no table incidents/],
])('%j ends with exit code %i', async (args, exit, message) => {
  await using work = await folder()
  const { code, stdout, stderr } = await sluice(['pull', ...args], {
    cwd: work.path,
    env: { ...env, SLUICE_JSON: '1' },
  })
  expect(stderr).toMatch(message)
  expect({ code, stdout }).toEqual({ code: exit, stdout: '' })
})

function compare(a: string | undefined, b: string | undefined): number {
  return (a ?? '') < (b ?? '') ? -1 : 1
}
