// @module-tag long
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { built } from '../../support/build.js'
import { folder } from '../../support/command/sluice.js'
import { spawnSync } from 'node:child_process'

test('without the package that reads S3, the command says how to install it', async () => {
  await using work = await folder()
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  cpSync(join(built, 'dist'), join(work.path, 'dist'), { recursive: true })
  for (const name of ['bin', 'package.json']) cpSync(join(root, name), join(work.path, name), { recursive: true })
  const args = ['ingest', 's3://bucket/*.gz', '--index', 'i', '--url', 'http://127.0.0.1:9', '--quiet']
  const { stderr, status } = spawnSync(process.execPath, [join(work.path, 'bin', 'sluice.js'), ...args], {
    cwd: work.path,
    env: { HOME: work.path, PATH: process.env['PATH'] },
    encoding: 'utf8',
  })
  expect(stderr).toContain('npm install @aws-sdk/client-s3')
  expect(status).toBe(2)
})
