// @module-tag long
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { built } from '../../support/build.js'
import { folder } from '../../support/command/sluice.js'

const release = fileURLToPath(new URL('../../../scripts/release', import.meta.url))
const CANNOT_BUILD = 3

interface Bill {
  readonly components: readonly {
    name: string
    version: string
    purl: string
    hashes?: unknown[]
    licenses?: unknown[]
  }[]
}

test('the bill of materials names what is inside the bundles and what is installed, and nothing else', () => {
  const made = spawnSync(process.execPath, [join(release, 'sbom.js'), built], { encoding: 'utf8' })
  expect({ code: made.status, stderr: made.stderr }).toEqual({ code: 0, stderr: '' })
  const { components } = JSON.parse(made.stdout) as Bill
  const names = components.map(({ name }) => name)
  for (const inside of ['commander', 'pino', 'prom-client', '@peculiar/x509']) expect(names).toContain(inside)
  const { dependencies } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8')) as { dependencies: object }
  for (const brought of [...Object.keys(dependencies), '@elastic/transport']) expect(names).toContain(brought)
  for (const other of ['vitest', 'typescript', 'apache-arrow', '@aws-sdk/client-s3', 'knip'])
    expect(names).not.toContain(other)
  expect(components.filter(({ hashes, licenses, purl }) => !hashes || !licenses || !purl)).toEqual([])
})

test.runIf(process.platform === 'linux')('the single executable loads files where no Node is', async context => {
  await using work = await folder()
  const made = spawnSync(process.execPath, [join(release, 'executable.js'), built, join(work.path, 'sluice')], {
    encoding: 'utf8',
  })
  if (made.status === CANNOT_BUILD) context.skip(made.stderr)
  expect({ code: made.status, stderr: made.stderr }).toEqual({ code: 0, stderr: '' })
  expect(made.stdout).toContain('ok    the demo')
})
