import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder } from '../../support/command/sluice.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

test('a guarded load says where its alias is, and rollback leads it back', { tags: 'long' }, async () => {
  await using work = await folder()
  const env = { ...lab.env, SLUICE_STATE_DIR: join(work.path, 'state'), SLUICE_PREFLIGHT_CONNECTIONS: '1' }
  const run = async (...args: string[]) => await sluice(args, { cwd: work.path, env })
  await writeFile(join(work.path, 'a.ndjson'), '{"sku":"a"}\n{"sku":"b"}\n')
  await writeFile(join(work.path, 'body.json'), '{"mappings":{"properties":{"sku":{"type":"keyword"}}}}')
  const query = '{"query":{"term":{"sku":"b"}}}'
  const load = ['ingest', 'a.ndjson', '--swap-alias', 'shop', '--index-body', 'body.json', '--check-query', query]

  const first = await run(...load)
  expect(first.code).toBe(0)
  const [, one = ''] = /alias +shop is on (shop-\S+)\n/.exec(first.stdout) ?? []
  expect(first.stderr).toContain(`loading into ${one}, and shop is on no index yet`)

  const failed = await run(...load, '--again', '--check-hits', '2')
  expect(failed.code).toBe(3)
  const [, kept = ''] =
    new RegExp(`alias +shop stays on ${one}. Sluice kept the new index, (shop-\\S+)\n`).exec(failed.stdout) ?? []
  expect(failed.stderr).toContain(
    `error: Sluice loaded the index ${kept} but did not switch shop: the check query must match at least 2 documents but matched 1`,
  )

  const second = await run(...load)
  expect(second).toMatchObject({ code: 0, stderr: expect.stringContaining('a.ndjson is already loaded') as string })
  expect(second.stdout).toMatch(new RegExp(`alias +shop is on ${kept}. Sluice kept the previous index, ${one}\n`))
  expect((await run('runs')).stdout).toContain(kept)

  expect(await run('rollback', 'shop')).toMatchObject({
    code: 0,
    stdout: `The alias shop is now on ${one}, with 2 documents.\nSluice kept the previous index, ${kept}.\n`,
  })
  const unmoved = await run(...load)
  expect(unmoved.code).toBe(0)
  expect(unmoved.stdout).toContain(`shop stays on ${one}. Sluice kept the new index, ${kept}\n`)
  expect(unmoved.stdout).toContain('A rollback or another load has switched the alias since')
  expect(unmoved.stdout).toContain(`to move it there, run sluice rollback shop --to ${kept}\n`)
  const back = await run('rollback', 'shop', '--to', kept, '--json')
  expect(JSON.parse(back.stdout)).toEqual({ alias: 'shop', from: one, to: kept, documents: 2 })
  const impossible = await run('rollback', 'other')
  expect(impossible.code).toBe(3)
  expect(impossible.stderr).toContain('error: cannot roll back the alias other: there is no such alias')
})
