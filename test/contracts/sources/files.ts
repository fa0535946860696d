/** Files on disk, and globs. */
import { readdirSync, readlinkSync } from 'node:fs'
import { mkdtemp, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findSources } from '../../../src/pipeline/source/open-sources.js'
import { until } from '../../support/eventually.js'
import { bytesOf, type Row, type SourceKind, type SourceWorld } from './source-world.js'

export const files: SourceKind = {
  title: 'files',
  again: 'file',
  closesAtOnce: true,
  lacks: { failing: 'no disk fails on command', stalled: 'a file never waits' },
  open: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sources-'))
    const path = (name: string) => join(folder, name)
    const put = async (name: string, rows: readonly Row[]) => await writeFile(path(name), bytesOf(rows))
    const first = async (names: string | string[]) => {
      const [source] = await findSources(names, {})
      if (source === undefined) throw new Error('no file was found')
      return source
    }
    const world: SourceWorld = {
      secrets: [],
      offer: async inputs => {
        for (const [name, rows] of Object.entries(inputs)) await put(name, rows)
        return await findSources(Object.keys(inputs).map(path), {})
      },
      offerMatched: async inputs => {
        for (const [name, rows] of Object.entries(inputs)) await put(name, rows)
        return await findSources(path('part-*'), {})
      },
      offerBytes: async (name, bytes) => {
        await writeFile(path(name), bytes)
        return await first(path(name))
      },
      missing: async () => await findSources(path('missing'), {}),
      replaced: async (before, after) => {
        await put('a.ndjson', before)
        const strike = async () => {
          await put('other', after)
          await rename(path('other'), path('a.ndjson'))
        }
        return { source: await first(path('a.ndjson')), strike }
      },
      shortened: async rows => {
        await put('a.ndjson', rows)
        const half = bytesOf(rows).length >> 1
        return { source: await first(path('a.ndjson')), strike: async () => await truncate(path('a.ndjson'), half) }
      },
      closed: async () => await until(() => !isOpen(folder)),
      [Symbol.asyncDispose]: async () => await rm(folder, { recursive: true }),
    }
    return world
  },
}

/** Whether this process has a file of the folder open. */
function isOpen(folder: string): boolean {
  return readdirSync('/proc/self/fd').some(name => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`).startsWith(folder)
    } catch {
      // The list itself was one of them.
      return false
    }
  })
}
