/** Every Node that Sluice is said to run on, fetched from where its packages come from. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

const run = promisify(execFile)
/** As `npm install` built it. */
const binary = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url))

describe.each(['20.19.0', '22', '24'])('Node %s', version => {
  test('runs the demo, and says nothing that Sluice did not mean to', async () => {
    const found = await run('npm', [
      'exec',
      '--yes',
      `--package=node@${version}`,
      '--',
      'node',
      '-p',
      'process.execPath',
    ])
    const node = found.stdout.trim()
    const asked = await run(node, [binary, '--version'])
    expect(asked.stderr).toBe('')
    const demo = await run(node, [binary, 'demo'])
    expect(demo.stdout).toContain('it balances')
    expect(demo.stderr).not.toMatch(/error|unrecognized|deprecat/i)
  })
})
