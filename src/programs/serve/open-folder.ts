/** Opens the folder where a receiver keeps acknowledged documents: one per cluster and index, for one process at a time. */
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isSluiceError } from '../../base/failure/failure.js'
import { runsFolder } from '../../run/state/runs/runs.js'
import { stateUnwritable } from '../../base/disk/state-unwritable.js'
import { tidyFolder, lockedBy, locksFolder } from '../../run/state/runs/state-folder.js'
import { InputLocks } from '../../base/lock/lock.js'
import { keyOf } from '../../base/checksum/tokens.js'
import { parseObject } from '../../base/json/parse-json.js'
import { makeFolder, syncFolder, replaceFile } from '../../base/disk/safe-files.js'

const TARGET = 'target.json'

export interface SpoolFolder extends AsyncDisposable {
  readonly path: string
  readonly segments: string
  readonly state: string
  /** Warnings about the state folder, and other documents in it. */
  readonly warnings: readonly string[]
}

/** Creates and locks the folder. Throws SluiceError RUN_LOCKED, STATE_UNWRITABLE. */
export async function openFolder(stateDir: string, cluster: URL, index: string): Promise<SpoolFolder> {
  const path = join(resolve(stateDir), 'serve', keyOf([cluster.href, index]).slice(0, 16))
  const segments = join(path, 'segments')
  const state = join(path, 'state')
  const locks = await lockFolder(state, index)
  try {
    await makeFolder(segments)
    await replaceFile(join(path, TARGET), `${JSON.stringify({ cluster: cluster.origin, index })}\n`)
    for (const folder of [path, dirname(path), dirname(dirname(path))]) await syncFolder(folder)
    // A run that was killed after its documents were removed left a checkpoint without a purpose.
    const isEmpty = !(await readdir(segments)).some(name => name.endsWith('.ndjson'))
    if (isEmpty) await rm(runsFolder(state), { recursive: true, force: true })
    const warnings: string[] = []
    for (const folder of [resolve(stateDir), path]) warnings.push(...(await tidyFolder(folder)))
    warnings.push(...(await othersThan(path)))
    return { path, segments, state, warnings, [Symbol.asyncDispose]: async () => await locks[Symbol.asyncDispose]() }
  } catch (error) {
    await locks[Symbol.asyncDispose]()
    throw isSluiceError(error) ? error : stateUnwritable(path, error)
  }
}

async function lockFolder(state: string, index: string): Promise<InputLocks> {
  const folder = locksFolder(state)
  const lock = join(folder, 'serve.lock')
  const locks = await InputLocks.open(folder)
  try {
    const other = await locks.take(lock)
    if (other !== undefined) throw lockedBy(other, 'the spool of accepted documents', index, lock)
    await locks.name('serve')
    return locks
  } catch (error) {
    await locks[Symbol.asyncDispose]()
    throw error
  }
}

/** Returns warnings about documents for another cluster or index. Perhaps no process serves those any more. */
async function othersThan(path: string): Promise<string[]> {
  const warnings: string[] = []
  for (const name of await readdir(dirname(path))) {
    const other = join(dirname(path), name)
    if (other === path) continue
    const bytes = await bytesIn(join(other, 'segments'))
    if (bytes === 0) continue
    const { cluster, index } = parseObject(await readFile(join(other, TARGET)).catch(() => '')) ?? {}
    const isKnown = typeof cluster === 'string' && typeof index === 'string'
    const what = isKnown
      ? `are not yet loaded into ${index} of ${cluster}. To load them, run sluice serve with that target`
      : `are not yet loaded. Its ${TARGET} is damaged, so Sluice does not know their target. To load them, run sluice serve with their target`
    warnings.push(`${bytes} bytes in ${other} ${what}`)
  }
  return warnings
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0
  for (const name of await readdir(folder).catch(() => [])) {
    if (name.endsWith('.ndjson'))
      bytes += await stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      )
  }
  return bytes
}
