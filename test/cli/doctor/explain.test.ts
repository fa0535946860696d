import { expect, test } from 'vitest'
import { exampleOf, explain, failureCodes, stages } from '../../../src/base/failure/failure.js'
import { symptoms } from '../../../src/base/failure/symptoms.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'

// Each test starts processes.
async function said(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await sluice(['explain', ...args])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

async function saidAsJson(...args: readonly string[]): Promise<unknown> {
  return JSON.parse(await said(...args, '--json'))
}

test('without a code, every code is listed once with its title, under its part of the path', async () => {
  const list = (await said()).split('\n')
  expect(list.filter(line => /^\S/.test(line))).toEqual(Object.values(stages))
  const lines = list.filter(line => line.startsWith('  '))
  expect(lines.map(line => line.trim().split(' ')[0])).toEqual(failureCodes)
  expect(lines.map((line, at) => line.endsWith(`  ${explain(failureCodes[at] ?? 'INTERNAL').title}`))).not.toContain(
    false,
  )
})

test('a code, in any spelling, is told with all that is known of it', async () => {
  const page = await said('egress-partly-allowed')
  const { title, observed, causes, fixes } = explain('EGRESS_PARTLY_ALLOWED')
  expect(page).toContain(`EGRESS_PARTLY_ALLOWED: ${title}\n`)
  expect(page).toContain(`error: ${exampleOf('EGRESS_PARTLY_ALLOWED')}\n`)
  for (const text of [observed, ...causes, ...fixes]) expect(page).toContain(`${text}\n`)
  expect(page).toContain('Exit code 3: the same command fails again until somebody changes something.')
  expect(await saidAsJson('EGRESS_PARTLY_ALLOWED')).toMatchObject({
    code: 'EGRESS_PARTLY_ALLOWED',
    exit: 3,
    observed,
    causes,
    fixes,
    example: exampleOf('EGRESS_PARTLY_ALLOWED'),
  })
})

test('a notice has no exit code: it ends no run', async () => {
  const notices = failureCodes.filter(code => explain(code).isNotice === true)
  expect(notices).toContain('REGION_MISMATCH')
  for (const line of (await said()).split('\n').filter(text => text.startsWith('  ')))
    expect(/ notice {2}/.test(line)).toBe(notices.some(code => line.startsWith(`  ${code} `)))
  const page = await said('REGION_MISMATCH')
  expect(page).toContain('This is a notice. It does not end a run')
  expect(page).not.toContain('Exit code')
})

test('words of what is seen lead to codes, several words to what has them all', async () => {
  const found = await said('407')
  expect(found).toContain('At the proxy: 407 Proxy Authentication Required\n')
  expect(found).toMatch(/^ {4}PROXY_AUTH_REJECTED {2,}The proxy refuses the credentials$/m)
  const aborted = await said('request', 'aborted')
  expect(aborted).toContain('PROXY_TARGET_UNREACHABLE')
  expect(aborted).not.toContain('407 Proxy Authentication Required')
  expect(await said('OTLP')).toContain('not a fault of the IP filter')
  expect(await saidAsJson('otlp')).toMatchObject({ symptoms: [{ where: 'cluster', codes: [] }], failures: [] })
})

test("Elasticsearch's own error types are told, by their name and by their words", async () => {
  const conflict = await said('version_conflict_engine_exception')
  expect(conflict).toMatch(
    /^version_conflict_engine_exception: .*\n {2}A document with this id .*\n.*--op index.*skip\.\n$/,
  )
  expect(await said('version', 'conflict')).toContain(conflict)
  expect(await saidAsJson('strict_dynamic_mapping_exception')).toMatchObject({
    failures: [],
    errors: [{ type: 'strict_dynamic_mapping_exception' }],
  })
})

test('--symptoms lists what is seen, each with its codes', async () => {
  const list = await said('--symptoms')
  for (const { symptom, when, codes, note } of symptoms)
    for (const text of [symptom, when, note, ...codes]) expect(list).toContain(text)
  expect(await saidAsJson('--symptoms')).toEqual({ symptoms })
})

test('an unknown word is an error, with the nearest code if one is near', async () => {
  const near = await sluice(['explain', 'EGRESS_PARTLY_ALOWED'])
  expect(near).toMatchObject({ code: 2, stdout: '' })
  expect(near.stderr).toContain("'EGRESS_PARTLY_ALOWED' is not a failure code. Did you mean EGRESS_PARTLY_ALLOWED?")
  const far = await sluice(['explain', 'wombat'])
  expect(far).toMatchObject({ code: 2, stdout: '' })
  expect(far.stderr).toContain("'wombat' is not a failure code, and no failure mentions it")
})
