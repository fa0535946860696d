import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { keep } from './keeper.js'

/** A server of the test's own. Disposing kills its whole process group: nothing it holds is of use afterwards. */
export interface RunningProcess extends AsyncDisposable {
  /** Set once it has ended. */
  readonly ended: string | undefined
  /** The last lines that it wrote to stdout and stderr. */
  output(): string
}

export interface Start {
  readonly command: string
  readonly args: readonly string[]
  /** Where its output goes. */
  readonly folder: string
  /** Default `folder`. */
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** Account to run as, where the tests run as root and the program refuses to. */
  readonly account?: { readonly uid: number; readonly gid: number }
}

/** Starts a program in a process group of its own, its output in the file `output` of its folder. */
export async function startProcess({
  command,
  args,
  folder,
  cwd = folder,
  env,
  account,
}: Start): Promise<RunningProcess> {
  const outputFile = `${folder}/output`
  const output = openSync(outputFile, 'a')
  const child = spawn(command, args, {
    cwd,
    detached: true,
    stdio: ['ignore', output, output],
    ...(env && { env }),
    ...account,
  })
  closeSync(output)

  let ended: string | undefined
  const end = new Promise<void>(resolve => {
    child.once('exit', (code, signal) => resolve(void (ended = `ended with ${signal ?? `exit code ${code}`}`)))
    child.once('error', error => resolve(void (ended = `did not start: ${error.message}`)))
  })
  const { pid } = child
  if (pid !== undefined) keep.group(pid)

  return {
    get ended() {
      return ended
    },
    output: () => readFileSync(outputFile, 'utf8').trimEnd().split('\n').slice(-20).join('\n'),
    async [Symbol.asyncDispose]() {
      if (pid === undefined) return
      killGroup(pid)
      await end
      keep.forgetGroup(pid)
    },
  }
}

// Also after the leader has ended: its children may live on.
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // all of the group has ended
  }
}

/**
 * Asks until `probe` answers something other than undefined or throws no more, and returns the answer.
 * Throws with the server's last output when it ends first, or after `limitMs`.
 */
export async function untilReady<T>(
  what: string,
  server: RunningProcess,
  probe: () => Promise<T | undefined>,
  limitMs = 300_000,
): Promise<T> {
  const deadline = Date.now() + limitMs
  let problem: unknown
  while (server.ended === undefined && Date.now() < deadline) {
    try {
      const answer = await probe()
      if (answer !== undefined) return answer
    } catch (error) {
      problem = error
    }
    await sleep(25)
  }
  const state = server.ended ?? `not ready after ${limitMs} ms`
  throw new Error(`${what} ${state}\n${server.output()}`, { cause: problem })
}
