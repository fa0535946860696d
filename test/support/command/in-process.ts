/** Command lines, run in this process on a terminal of their own: what they print is what the process would write. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { stateHome } from '../build.js'
import { type Ended, type Surroundings, fewConnections } from './sluice.js'
import { runProgram } from '../../../src/cli/program.js'
import { openTerminal } from '../../../src/cli/terminal/terminal.js'

export interface Printed {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export async function inProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { isTTY = false, input = '' }: { readonly isTTY?: boolean; readonly input?: string | Uint8Array } = {},
): Promise<Printed> {
  const [stdout, stderr] = [collected(isTTY), collected(isTTY)]
  const stdin = Object.assign(new PassThrough(), { isTTY: false })
  stdin.end(input)
  const host = {
    stdout: stdout.stream,
    stderr: stderr.stream,
    stdin,
    env: { ...ownState(), ...env },
    on: ignore,
    off: ignore,
  }
  const code = await runProgram(args, openTerminal(host as unknown as NodeJS.Process), '0.0.0')
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

let folderInUse: string | undefined
let uses = 0

/**
 * Runs a command line as `sluice` runs the built binary, and takes a fifth of its CPU time. For tests of what a command does and
 * says. All commands that run at once have the same working folder.
 */
export async function sluiceHere(
  args: readonly string[],
  { cwd = tmpdir(), env = {}, input }: Pick<Surroundings, 'cwd' | 'env' | 'input'> = {},
): Promise<Ended> {
  if (uses > 0 && folderInUse !== cwd) throw new Error(`a command is running in ${folderInUse}`)
  folderInUse = cwd
  uses += 1
  process.chdir(cwd)
  try {
    const few = fewConnections(args)
    const own = { PATH: process.env['PATH'] ?? '', XDG_STATE_HOME: stateHome, SLUICE_LOG_FORMAT: 'text', ...few }
    return { ...(await inProcess(args, { ...own, ...env }, input === undefined ? {} : { input })), signal: null }
  } finally {
    uses -= 1
    if (uses === 0) process.chdir(root)
  }
}
const root = process.cwd()

function ownState() {
  return { XDG_STATE_HOME: (home ??= mkdtempSync(join(tmpdir(), 'sluice-in-process-'))) }
}
let home: string | undefined

function ignore(): void {}

function collected(isTTY: boolean) {
  const parts: Buffer[] = []
  const write = (text: string | Uint8Array, done?: () => void) => {
    parts.push(Buffer.from(text as string))
    done?.()
  }
  return { stream: { isTTY, columns: 80, write, on: ignore }, text: () => Buffer.concat(parts).toString() }
}
