import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ingest } from '../../src/index.js'
import { until } from '../support/eventually.js'
import { newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** Files that are followed while they grow. */
export function describeFollow(world: () => World): void {
  describe('a file that is followed', () => {
    test('is loaded while it grows and rotates, and each line is stored once', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'follow-'))
      const index = newIndex()
      const log = join(folder, 'app.ndjson')
      const lines = (...numbers: number[]) => numbers.map(n => `{"n":${n}}\n`).join('')
      const stored = async (count: number) => await until(async () => (await world().count(index)) >= count)
      await writeFile(log, lines(1, 2, 3))
      const stop = new AbortController()
      const receipt = ingest({
        ...loadThrough(world(), world().proxy.http),
        preflightConnections: 1,
        source: join(folder, '*.ndjson'),
        index,
        stateDir: join(folder, 'state'),
        follow: true,
        pollMs: 20,
        signal: stop.signal,
      })
      await Promise.race([receipt, stored(3)])
      await appendFile(log, `${lines(4)}{"n":`)
      await stored(4)
      await appendFile(log, `5}\n${lines(6)}`)
      await rename(log, `${log}.1`)
      await writeFile(log, lines(7, 8))
      await stored(8)
      stop.abort('SIGTERM')
      expect(await receipt).toMatchObject({ status: 'finished', exit: 0, read: 8, created: 8, duplicate: 0 })
      const found = (await world().documents(index)).map(text => (JSON.parse(text) as { n: number }).n)
      expect(found.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
      await rm(folder, { recursive: true })
    })
  })
}
