import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Holder, isGone, parseHolder } from './lock-holder.js'
import { locksFolder, signPath } from './lock.js'

/** Who is at a run right now, by the locks that it holds, and the path of one of them. Undefined: certainly nobody who holds any. */
export async function runHolder(
  stateDir: string,
  run: string,
): Promise<{ readonly holder: Holder; readonly lock: string } | undefined> {
  const folder = locksFolder(stateDir)
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    if (!name.endsWith('.lock')) continue
    const lock = join(folder, name)
    const holder = parseHolder(await readFile(lock, 'utf8').catch(() => ''))
    if (holder?.run === run && !(await isGone(holder, signPath(folder, holder.id)))) return { holder, lock }
  }
  return undefined
}
