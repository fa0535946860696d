// @module-tag long
/** A hundred stories in several processes. `npm run search:world` plays thousands. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const STORIES = 100
const root = fileURLToPath(new URL('../..', import.meta.url))

test(`${STORIES} stories come to a good end`, async () => {
  const args = ['scripts/world/search.js', '--seed', '1001', '--stories', String(STORIES)]
  const search = promisify(execFile)(process.execPath, args, { cwd: root })
  const said = await search.then(
    ({ stdout }) => stdout,
    (error: { readonly stdout: string }) => error.stdout,
  )
  expect(said).not.toContain('✗')
  expect(said).toContain(`${STORIES} stories,`)
})
