import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readQueueKey } from '../../../../src/cli/settings/option-files.js'
import type { Effective } from '../../../../src/cli/settings/resolve.js'

const own = (queueKeyFile?: string) =>
  ({ values: { queueKeyFile }, origins: { queueKeyFile: '--queue-key-file' } }) as unknown as Effective

test('the key of the queue is in a file, and is long enough', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'key-'))
  try {
    const file = join(folder, 'key')
    const key = '0123456789abcdef0123456789abcdef'
    expect(await readQueueKey(own())).toBeUndefined()
    await writeFile(file, `${key}\n`)
    expect(await readQueueKey(own(file))).toBe(key)
    for (const weak of ['short-secret', 'x'.repeat(64)]) {
      await writeFile(file, weak)
      const problem = await readQueueKey(own(file)).catch(String)
      expect(problem).toContain('openssl rand -hex 32')
      expect(problem).not.toContain(weak)
    }
  } finally {
    await rm(folder, { recursive: true })
  }
})
