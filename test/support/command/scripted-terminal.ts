/** A command line in this process, on a terminal that answers questions: what a person would see and type. */
import { PassThrough } from 'node:stream'
import { runProgram } from '../../../src/cli/program.js'
import { openTerminal } from '../../../src/cli/terminal/terminal.js'

/** A part of the question, and the keys that are typed when it is shown. */
export type Reply = readonly [question: string, keys: string]

export async function onScriptedTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  replies: readonly Reply[],
  cwd: string,
) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  const left = [...replies]
  let [stdout, stderr, unread] = ['', '', '']
  const show = (text: string | Uint8Array) => {
    stderr += String(text)
    unread += String(text)
    // Only a question ends without a line feed.
    const [next] = left
    if (text === '' || unread.endsWith('\n')) return
    const keys = next !== undefined && unread.includes(next[0]) ? next[1] : undefined
    if (keys !== undefined) left.shift()
    unread = ''
    // An unexpected question ends the input, and so the command.
    setImmediate(() => (keys === undefined ? stdin.end() : stdin.write(keys)))
  }
  const stream = (isTTY: boolean, write: (text: string | Uint8Array) => void) => ({
    isTTY,
    columns: 80,
    write: (text: string | Uint8Array, done?: () => void) => {
      write(text)
      done?.()
    },
    on: () => undefined,
  })
  const host = {
    stdin,
    stdout: stream(false, text => (stdout += String(text))),
    stderr: stream(true, show),
    env: { TERM: 'dumb', ...env },
    on: () => undefined,
    off: () => undefined,
  }
  const before = process.cwd()
  process.chdir(cwd)
  try {
    const code = await runProgram(args, openTerminal(host as unknown as NodeJS.Process), '0.0.0')
    return { code, stdout, stderr, unasked: left.map(([question]) => question) }
  } finally {
    process.chdir(before)
  }
}
