/** Every Node that Sluice is said to run on, fetched from where its packages come from. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { folder } from '../support/command/sluice.js'

const run = promisify(execFile)
const frames = fileURLToPath(new URL('../../fixtures/two-frames.ndjson.zst', import.meta.url))
/** As `npm install` built them. */
const binary = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url))
const decoder = fileURLToPath(new URL('../../dist/base/compression/decompress.js', import.meta.url))

/** Prints what Sluice decodes of the file, or the failure. */
const decode = `
  import { createReadStream } from 'node:fs'
  const { decompress } = await import(${JSON.stringify(decoder)})
  try {
    for await (const part of decompress(createReadStream(${JSON.stringify(frames)}), 'x')) process.stdout.write(part)
  } catch ({ message }) {
    process.stdout.write(message)
  }
`

/** Fetches each version once: npm takes longer than a load. */
async function nodeOf(version: string): Promise<string> {
  const script = ['exec', '--yes', `--package=node@${version}`, '--', 'node', '-p', 'process.execPath']
  const fetching = fetched.get(version) ?? run('npm', script)
  fetched.set(version, fetching)
  return (await fetching).stdout.trim()
}
const fetched = new Map<string, Promise<{ readonly stdout: string }>>()

describe.each(['20.19.0', '22', '24', '26'])('Node %s', version => {
  test('runs the demo, and says nothing that Sluice did not mean to', async () => {
    const node = await nodeOf(version)
    const asked = await run(node, [binary, '--version'])
    expect(asked.stderr).toBe('')
    const demo = await run(node, [binary, 'demo'])
    expect(demo.stdout).toContain('it balances')
    expect(demo.stderr).not.toMatch(/error|unrecognized|deprecat/i)
  })

  test('loads a small gzip file and a CSV file', async () => {
    const node = await nodeOf(version)
    await using work = await folder()
    const files = ['small.ndjson.gz', 'numbers.csv']
    await writeFile(join(work.path, 'small.ndjson.gz'), gzipSync('{"n":1}\n{"n":2}\n'))
    await writeFile(join(work.path, 'numbers.csv'), 'n,m\n1,2\n')
    const load = ['ingest', ...files, '--index', 'versions', '--state-dir', join(work.path, 'state')]
    const { stdout } = await run(node, [binary, 'lab', '--', node, binary, ...load], { cwd: work.path })
    expect(stdout).toContain('it balances')
  })

  test('decodes all frames of zstd without the program, or says what it needs', async () => {
    const env = { PATH: '' }
    const { stdout } = await run(await nodeOf(version), ['--input-type=module', '-e', decode], { env })
    if (version.startsWith('20.')) expect(stdout).toContain('install the program zstd, or use Node.js 22.15 or newer')
    else expect(stdout).toBe(readFileSync(frames.replace('two-frames.ndjson.zst', 'plain.ndjson'), 'utf8'))
  })
})
