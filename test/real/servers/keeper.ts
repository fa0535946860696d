import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('../../../scripts/real/keeper.js', import.meta.url))
let keeper: ChildProcess | undefined

/**
 * What is named here and not taken back goes when this process ends, even by SIGKILL: a process group is killed, a folder
 * removed. Starts one small process, once.
 */
export const keep = {
  group: (pid: number) => tell(`+group ${pid}`),
  forgetGroup: (pid: number) => tell(`-group ${pid}`),
  folder: (path: string) => tell(`+folder ${path}`),
  forgetFolder: (path: string) => tell(`-folder ${path}`),
}

function tell(line: string): void {
  if (keeper === undefined) {
    keeper = spawn(process.execPath, [script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
    keeper.unref()
    const stdin = keeper.stdin as (typeof keeper)['stdin'] & { unref?: () => void }
    stdin?.unref?.()
  }
  keeper.stdin?.write(`${line}\n`)
}
