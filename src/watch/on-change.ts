/** Runs the command of a user for a change. */
import { spawn } from 'node:child_process'
import { kill } from 'node:process'
import type { Change } from './changes.js'

/** A command that hangs must not stop the watch. */
const LONGEST_MS = 60_000

/** Runs a line of shell with the change as JSON on its stdin. Resolves to the problem, if it failed. `env`: of the command. */
export async function runOnChange(
  command: string,
  change: Change,
  env: Readonly<Record<string, string | undefined>>,
  limitMs = LONGEST_MS,
): Promise<string | undefined> {
  return await new Promise(resolve => {
    // A group of its own, so that what the shell started ends with it.
    const child = spawn(command, { shell: true, env, stdio: ['pipe', 'ignore', 'ignore'], detached: true })
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      killGroup(child.pid)
    }, limitMs)
    child.on('error', error => resolve(error.message))
    child.on('exit', (code, signal) => {
      clearTimeout(timer)
      const how = isLate ? `it took longer than ${limitMs / 1000} s` : `it ended with ${signal ?? `exit code ${code}`}`
      resolve(code === 0 && !isLate ? undefined : how)
    })
    // A command that does not read its input is fine.
    child.stdin.on('error', () => undefined)
    child.stdin.end(`${JSON.stringify(change)}\n`)
  })
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
