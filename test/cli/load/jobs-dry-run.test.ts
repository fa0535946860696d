/** The jobs that a load by many workers would put on the queue. No process listens at the URLs of the queue and the cluster. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sluiceHere } from '../../support/command/in-process.js'
import { type Folder, folder } from '../../support/command/sluice.js'

let work: Folder
beforeEach(async () => {
  work = await folder()
  await writeFile(join(work.path, 'large.ndjson'), '{"text":"0123456789"}\n'.repeat(1000))
  for (const name of ['a', 'b', 'c']) await writeFile(join(work.path, `${name}.ndjson`), '{"n":1}\n')
})
afterEach(async () => await work[Symbol.asyncDispose]())

const env = {
  ELASTICSEARCH_URL: 'http://127.0.0.1:1',
  ELASTICSEARCH_API_KEY: 'a-key-that-is-hushed',
  SLUICE_QUEUE: 'redis://:hush-hush@127.0.0.1:1',
}
const dryRun = async (...more: readonly string[]) =>
  await sluiceHere(['ingest', '*.ndjson', '--index', 'logs', '--dry-run', '--range-bytes', '10000', ...more], {
    cwd: work.path,
    env,
  })

test('--dry-run with --queue counts ranges, groups and bytes, and asks neither queue nor cluster', async () => {
  const { code, stdout, stderr } = await dryRun('--json')
  expect(code, stderr).toBe(0)
  const plan = JSON.parse(stdout) as Record<string, unknown>
  // Groups are not larger than 16 MiB, and large.ndjson has 22,000 bytes.
  expect(plan).toMatchObject({ dryRun: true, objects: 4, ranges: 4, groups: 1, bytes: 22_024, index: 'logs' })
  expect(plan['job']).toMatch(/^logs-[\da-f]{12}$/)
  const shown = await dryRun()
  expect(shown.stdout).toContain(
    '4 ranges of 4 inputs with 22,024 bytes: 3 parts of large inputs and 1 group of others',
  )
  expect(stdout + stderr + shown.stdout + shown.stderr).not.toContain('hush')
})

test('an option for one machine is refused by name and with a reason, before the queue is asked', async () => {
  await writeFile(join(work.path, 'list'), 'a.ndjson\n')
  const refused = async (...args: readonly string[]) => {
    const { code, stderr } = await sluiceHere(['ingest', '--index', 'logs', ...args], { cwd: work.path, env })
    expect(code).toBe(2)
    return stderr
  }
  expect(await refused('a.ndjson', '--time-budget', '1h')).toMatch(
    /--time-budget.* with --queue: it limits one process/,
  )
  expect(await refused('--files-from', 'list')).toMatch(/--files-from.* with --queue: the list is on this machine/)
})

test('--dry-run with --queue fails as the load would if there are no inputs', async () => {
  const { code, stderr } = await sluiceHere(['ingest', 'none-*.ndjson', '--index', 'logs', '--dry-run'], {
    cwd: work.path,
    env,
  })
  expect(code).toBe(2)
  expect(stderr).toContain('INPUT_NOT_FOUND')
})
