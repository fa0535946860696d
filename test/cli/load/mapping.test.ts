import { readFile, writeFile } from 'node:fs/promises'
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

test(
  'a proposed mapping makes the index, is compared by the next load, and its conflicts are named',
  { tags: 'long' },
  async () => {
    await using work = await folder()
    const env = { ...lab.env, SLUICE_STATE_DIR: join(work.path, 'state'), SLUICE_PREFLIGHT_CONNECTIONS: '1' }
    const run = async (...args: string[]) => await sluice(args, { cwd: work.path, env })
    await writeFile(join(work.path, 'a.csv'), 'code,total\n0042,1.5\n0043,2\n0044,n/a\n')
    const inferred = await run('infer', 'a.csv')
    expect(inferred.code).toBe(0)
    expect(JSON.parse(inferred.stdout)).toEqual({
      mappings: { properties: { code: { type: 'keyword' }, total: { type: 'double' } } },
    })
    expect(inferred.stderr).toContain(
      'warning: total has n/a in place of missing values. Pass --infer-types to the load too. Without it, the index rejects these rows',
    )
    for (const option of [['--infer-types'], ['--null-values', 'n/a']]) {
      const same = await run('infer', 'a.csv', ...option)
      expect(same.stdout).toBe(inferred.stdout)
      expect(same.stderr).not.toContain('missing values')
    }
    const mixed = await run('infer', 'a.csv', '--null-values', 'none')
    expect(mixed.stderr).toContain(
      'total: double in 1 document (33.3%), first at a.csv, document 1, long in 1 document (33.3%), first at a.csv, document 2, text in 1 document (33.3%), first at a.csv, document 3. The mapping has keyword, which takes all of them',
    )
    await writeFile(join(work.path, 'orders.json'), inferred.stdout)
    const load = ['ingest', 'a.csv', '--index', 'orders', '--infer-types', '--again']
    expect(await run(...load, '--mapping', 'orders.json')).toMatchObject({ code: 0 })
    const other = (await readFile(join(work.path, 'orders.json'), 'utf8')).replace(
      '"type": "keyword"',
      '"type": "long"',
    )
    const refused = await run(...load, '--mapping', other)
    expect(refused.code).toBe(3)
    expect(refused.stderr).toContain(
      'the mapping of orders differs from --mapping: code is keyword, not long. Sluice changed nothing',
    )
    await writeFile(
      join(work.path, 'nightly.json'),
      '{"index_patterns":["orders*"],"template":{"mappings":{"dynamic":"false"}}}',
    )
    expect(await run(...load, '--template', 'nightly.json')).toMatchObject({ code: 0 })
    expect(await run(...load, '--template', 'nightly.json', '--quiet')).toMatchObject({ code: 0, stderr: '' })
    for (const [option, value, problem] of [
      ['--mapping', '{"settings":{}}', 'has "settings", which is not part of a mapping'],
      ['--mapping', '{"mappings":{},"settings":{}}', 'has "settings" next to the mapping'],
      ['--template', '{"index_patterns":["a"]}', 'has no name'],
      ['--mapping', 'missing.json', 'cannot read missing.json: no such file'],
    ] as const) {
      const wrong = await run(...load, option, value)
      expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining(problem)])
    }
  },
)
