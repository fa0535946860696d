/** Writes the documents of indices as a dump, which `ingest` loads again. */
import { randomBytes } from 'node:crypto'
import { open, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { free } from '../../base/memory.js'
import { diskProblem, syncFolder } from '../../base/disk/safe-files.js'
import { fail, isSluiceError } from '../../base/failure/failure.js'
import type { FromSection } from '../../options/load.js'
import { linesOfHits } from './dump-lines.js'
import { findBoundary } from './find-boundary.js'
import { findIndices } from './find-indices.js'
import { doubtOf, rebuilt } from './messages.js'
import { openOrigin } from './open-origin.js'
import { readShards } from './read-shards.js'

interface PullingIndices {
  readonly from: FromSection
  readonly maxElapsedMs: number
  readonly signal: AbortSignal
  onWarning(message: string): void
  /** Hears how many documents and bytes were passed on so far. */
  onProgress(pulled: { readonly rows: number; readonly bytes: number }): void
}

/**
 * Yields the documents in whole lines, index by index: all that were written before their index was opened.
 * Throws SluiceError INPUT_NOT_FOUND, INPUT_UNREADABLE, CLUSTER_*, and every failure of the route.
 */
export async function* pullDump({
  from,
  maxElapsedMs,
  signal,
  onWarning,
  onProgress,
}: PullingIndices): AsyncGenerator<Uint8Array> {
  const { cluster } = await openOrigin(from, signal)
  const told = new Set<string>()
  const warn = (message: string) => {
    if (!told.has(message)) onWarning(message)
    told.add(message)
  }
  try {
    const found = await findIndices(cluster, from)
    for (const message of [...cluster.warnings, ...rebuilt(found)]) warn(message)
    let [rows, bytes] = [0, 0]
    for (const one of found) {
      const reading = { ...one, cluster, maxElapsedMs, signal }
      const { upTo, doubt } = await findBoundary(reading)
      if (doubt !== undefined) warn(doubtOf(doubt))
      for await (const { hits } of readShards({ ...reading, from: new Map<number, number>(), upTo })) {
        const lines = linesOfHits(hits.lines)
        free(hits.lines.buffer)
        yield lines
        rows += hits.numbers.length
        bytes += lines.length
        onProgress({ rows, bytes })
      }
    }
  } finally {
    await cluster.route.destroy()
  }
}

/** Writes the same lines to a file, which is replaced as a whole once all are there. Throws as `pullDump`, and OUTPUT_UNWRITABLE. */
export async function pullDumpToFile({
  output,
  ...pulling
}: PullingIndices & { readonly output: string }): Promise<void> {
  const path = await realpath(output).catch(() => resolve(output))
  const known = await stat(path).catch(() => undefined)
  if (known?.isFile() === false) throw fail('OUTPUT_UNWRITABLE', { path, problem: 'it is not a file' })
  const part = `${path}.${randomBytes(4).toString('hex')}.part`
  try {
    const file = await open(part, 'wx', 0o600)
    try {
      for await (const lines of pullDump(pulling)) await file.appendFile(lines)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(part, path)
    await syncFolder(dirname(path))
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined)
    if (isSluiceError(error) || pulling.signal.aborted) throw error
    throw fail('OUTPUT_UNWRITABLE', { path, problem: diskProblem(error) }, { cause: error })
  }
}
