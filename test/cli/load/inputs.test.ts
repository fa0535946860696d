import { link, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { folder, shell, sluice } from '../../support/sluice.js'

// Each test starts processes.
let lab: Lab
beforeAll(async () => {
  lab = await startLab({ register: 'both', ports: 'random' })
})
afterAll(async () => await lab.close())

test.each(['in.ndjson', 'link.ndjson', 'hard.ndjson', './in.ndjson'])(
  'dead letters are not written into an input (%s)',
  async path => {
    await using work = await folder()
    const content = '{"n":1}\nno JSON\n'
    await writeFile(join(work.path, 'in.ndjson'), content)
    await symlink('in.ndjson', join(work.path, 'link.ndjson'))
    await link(join(work.path, 'in.ndjson'), join(work.path, 'hard.ndjson'))
    const args = ['ingest', 'in.*', '--index', 'own-letters', '--dead-letters', path, '--json']
    const { code, stdout } = await sluice(args, { cwd: work.path, env: lab.env })
    expect(JSON.parse(stdout)).toMatchObject({
      failure: {
        code: 'OPTION_INVALID',
        message: `--dead-letters: '${path}' is the input in.ndjson: write the dead letters to another file`,
      },
    })
    expect({ code, stored: lab.control.count('own-letters') }).toEqual({ code: 2, stored: 0 })
    expect(await readFile(join(work.path, 'in.ndjson'), 'utf8')).toBe(content)
  },
)

test('the dead letters of one run are no documents of the next', async () => {
  await using work = await folder()
  await writeFile(join(work.path, 'in.ndjson'), '{"n":1}\nno JSON\n')
  for (const _ of [1, 2]) {
    const { stdout } = await sluice(['ingest', '*.ndjson', '--index', 'again', '--json'], {
      cwd: work.path,
      env: lab.env,
    })
    expect(JSON.parse(stdout)).toMatchObject({ read: 2, created: 1, rejected: 1 })
  }
})

test.each(['-', '/dev/stdin'])('a directory as stdin is no empty input (%s)', async name => {
  await using work = await folder()
  const line = `$SLUICE ingest ${name} --index directory --json < .`
  const { code, stdout } = await shell(line, { cwd: work.path, env: lab.env })
  expect(JSON.parse(stdout)).toMatchObject({ failure: { code: 'INPUT_UNREADABLE', evidence: { input: name } } })
  expect(code).toBe(3)
})
