import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addedTo, checkTextfile, writeTextfile } from '../../../../src/cli/application/show-metrics.js'
import { folder } from '../../../support/command/sluice.js'

const text = (created: number, more = '') =>
  [
    '# HELP sluice_documents_total Documents by outcome.',
    '# TYPE sluice_documents_total counter',
    `sluice_documents_total{outcome="created"} ${created}`,
    '# HELP sluice_last_success_timestamp_seconds When.',
    '# TYPE sluice_last_success_timestamp_seconds gauge',
    ...(more === '' ? [] : [more]),
    '# HELP sluice_last_run_failure Why.',
    '# TYPE sluice_last_run_failure gauge',
    '',
  ].join('\n')

test('counters of runs add up, and the last success stays when a run fails', () => {
  const first = text(5, 'sluice_last_success_timestamp_seconds 1700000000')
  const merged = addedTo(`${first}sluice_last_run_failure{code="X"} 1\n`, text(3))
  expect(merged).toContain('sluice_documents_total{outcome="created"} 8\n')
  expect(merged).toContain('\nsluice_last_success_timestamp_seconds 1700000000\n')
  expect(merged).not.toContain('code="X"')
  expect(addedTo(merged, text(0, 'sluice_last_success_timestamp_seconds 1800000000'))).toContain(' 1800000000\n')
})

test('a series that this run does not have keeps its count', () => {
  const earlier = text(1).replaceAll('"created"', '"rejected"')
  expect(addedTo(earlier, text(2))).toMatch(/outcome="created"} 2\nsluice_documents_total{outcome="rejected"} 1\n/)
})

test.each([
  ['cut in the middle', 'sluice_documents_total{outcome="cre'],
  ['no number', '# TYPE sluice_documents_total counter\nsluice_documents_total{outcome="created"} NaN'],
  ['another type', '# TYPE sluice_documents_total counter\n\u0000\nsluice_documents_total 7 8 9'],
])('an earlier file that is damaged takes part as far as it can be read: %s', (_, earlier) => {
  expect(addedTo(earlier, text(2))).toContain('{outcome="created"} 2\n')
})

test('the file is replaced as a whole, for all to read', async () => {
  await using work = await folder()
  const path = join(work.path, 'orders.prom')
  await writeTextfile(path, text(1))
  await writeTextfile(path, text(1))
  expect(await readFile(path, 'utf8')).toContain('{outcome="created"} 2\n')
  expect((await stat(path)).mode & 0o777).toBe(0o644)
  expect(await readdir(work.path)).toEqual(['orders.prom'])
})

test('refuses a file that it could not write, or that is not its own', async () => {
  await using work = await folder()
  await writeFile(join(work.path, 'node.prom'), '# TYPE node_load1 gauge\nnode_load1 0.3\n')
  await mkdir(join(work.path, 'a.prom'))
  await checkTextfile(join(work.path, 'new.prom'))
  for (const [name, problem] of [
    ['missing/orders.prom', /the folder does not exist/],
    ['node.prom', /metrics of another program \(node_load1\)/],
    ['a.prom', /it is a directory/],
  ] as const)
    await expect(checkTextfile(join(work.path, name))).rejects.toThrow(problem)
})
