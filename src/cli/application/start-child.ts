import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { shown } from '../../base/text/shown.js'
import type { Terminal } from '../terminal/terminal.js'

/**
 * Runs a command in the foreground, with input and output of its own. Resolves to its exit code: 128+n when signal n
 * ended it, 127 when there is no such command, 126 when it may not be run, as shells do.
 */
export async function startChild(
  [command = '', ...args]: readonly string[],
  env: Terminal['env'],
  terminal: Terminal,
): Promise<number> {
  const refused = (error: NodeJS.ErrnoException): number => {
    const missing = error.code === 'ENOENT' || command === ''
    const reason = missing ? `no such command${command === 'sluice' ? instead() : ''}` : error.code
    terminal.err(shown`error: cannot run ${command || "''"}: ${reason}\n`)
    return missing ? 127 : 126
  }
  let child: ChildProcess
  try {
    child = spawn(command, args, { stdio: 'inherit', env: { ...env } })
  } catch (error) {
    // Node throws some refusals of the system at once.
    return refused(error as NodeJS.ErrnoException)
  }
  const listeners = forwarded.map(name => {
    const listener = () => {
      // At a keyboard, Ctrl-C goes to the whole foreground group: the command has it already.
      if (name === 'SIGINT' && terminal.stdin.isTTY) return
      child.kill(name)
    }
    terminal.on(name, listener)
    return { name, listener }
  })
  try {
    return await new Promise<number>(resolve => {
      child.once('error', error => resolve(refused(error)))
      child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])))
    })
  } finally {
    for (const { name, listener } of listeners) terminal.off(name, listener)
  }
}

/** This program also runs if it is no command of this machine. */
function instead(): string {
  return `. Run node ${process.argv[1] ?? 'bin/sluice.js'} instead, or run npm link first`
}

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
