/** Command lines, run in this process on a terminal of their own: what they print is what the process would write. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { runProgram } from '../../src/cli/program.js'
import { openTerminal } from '../../src/cli/terminal/terminal.js'

export interface Printed {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export async function inProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { isTTY = false }: { readonly isTTY?: boolean } = {},
): Promise<Printed> {
  const [stdout, stderr] = [collected(isTTY), collected(isTTY)]
  const stdin = Object.assign(new PassThrough(), { isTTY: false })
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
