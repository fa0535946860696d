import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { failure } from '../failure/failure.js'
import { SluiceError } from '../failure/sluice-error.js'
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

/** Throws SluiceError RUN_LOCKED while a process is at a run. `input`: one of its inputs, for the message. */
export async function refuseLive(
  stateDir: string,
  { run, input, index }: { readonly run: string; readonly input: string; readonly index: string },
): Promise<void> {
  const live = await runHolder(stateDir, run)
  if (live === undefined) return
  const { pid, host, since } = live.holder
  throw new SluiceError(failure('RUN_LOCKED', { input, index, run, pid, host, since, lock: live.lock }))
}
