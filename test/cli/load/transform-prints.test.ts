/** What a module prints, wherever it does, never stands in the result on stdout. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Receipt } from '../../../src/index.js'
import { startLab } from '../../../src/lab/index.js'
import { folder, sluice } from '../../support/command/sluice.js'

test('a module that prints everywhere leaves the receipt alone', async () => {
  await using lab = await startLab()
  await using work = await folder()
  await writeFile(
    join(work.path, 'shape.mjs'),
    `import { stdout } from 'node:process'
    console.log('at its beginning')
    setInterval(() => console.info('in a timer'), 1).unref()
    process.on('exit', () => stdout.write('at its end\\n'))
    export default document => {
      console.log('{"read":99}')
      stdout.write('{"created":99}\\n')
      console.error('an error of its own')
      return document
    }`,
  )
  const input = Array.from({ length: 500 }, (_, n) => `{"n":${n}}\n`).join('')
  const args = ['ingest', '-', '--index', 'printed', '--transform', 'shape.mjs', '--json']
  const { code, stdout, stderr } = await sluice(args, { cwd: work.path, env: lab.env, input })
  expect(code, stderr).toBe(0)
  expect(stdout.trimEnd().split('\n')).toHaveLength(1)
  expect(JSON.parse(stdout) as Receipt).toMatchObject({ read: 500, created: 500 })
  for (const said of ['at its beginning', '{"created":99}', 'an error of its own']) expect(stderr).toContain(said)
})
