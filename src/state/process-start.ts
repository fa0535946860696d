/** Whether a process is there, and since when: its number alone may have been given to another one. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { kill } from 'node:process'
import { promisify } from 'node:util'

export interface ProcessSeen {
  readonly isThere: boolean
  /** The same for as long as it lives, and another one for another process. Absent where it is not told. */
  readonly started?: string
}

/** `proc`: where Linux tells of its processes. */
export async function lookAtProcess(pid: number, proc = '/proc'): Promise<ProcessSeen> {
  if (!takesSignals(pid)) return { isThere: false }
  const hasProc = (await readIfThere(join(proc, 'self', 'stat'))) !== undefined
  return hasProc ? readStat(await readIfThere(join(proc, String(pid), 'stat'))) : await askPs(pid)
}

function takesSignals(pid: number): boolean {
  try {
    return kill(pid, 0)
  } catch (error) {
    // It is there, and somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Nothing, where the system hides the processes of others. */
function readStat(text: string | undefined): ProcessSeen {
  if (text === undefined) return { isThere: true }
  // The second field is the program's name, which may hold anything.
  const [state = '', ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  // Killed, and its parent has not asked for its exit code yet.
  if (state === 'Z' || state === 'X') return { isThere: false }
  const started = fields[18]
  return started === undefined ? { isThere: true } : { isThere: true, started }
}

/** A date: unlike the ticks that Linux counts, it tells processes of two starts of the machine apart. */
async function askPs(pid: number): Promise<ProcessSeen> {
  try {
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)], { env })
    const started = stdout.trim()
    return started === '' ? { isThere: true } : { isThere: true, started }
  } catch {
    return { isThere: true }
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').catch(() => undefined)
}
