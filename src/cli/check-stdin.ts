import { fstatSync } from 'node:fs'
import type { IngestOptions } from '../index.js'
import { namedIn } from '../options/table-names.js'
import type { Terminal } from './terminal.js'
import { fail } from '../failure/fail.js'

/** Refuses a directory as stdin, which reads as an empty stream. Throws SluiceError INPUT_UNREADABLE. */
export function checkStdin(names: readonly string[]): void {
  const stdin = names.find(isStdin)
  if (stdin === undefined || !fstatSync(0).isDirectory()) return
  throw fail('INPUT_UNREADABLE', { input: stdin, problem: 'it is a directory' })
}

/** Where it is no input it stays closed. */
export function stdinFor(source: IngestOptions['source'], terminal: Terminal): Pick<IngestOptions, 'stdin'> {
  return namedIn(source).some(isStdin) ? { stdin: terminal.stdin } : {}
}

function isStdin(name: string): boolean {
  return name === '-' || name === '/dev/stdin'
}
