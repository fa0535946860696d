import { fstatSync } from 'node:fs'
import { failure } from '../failure/failure.js'
import { SluiceError } from '../failure/sluice-error.js'

/** Refuses a directory as stdin, which reads as an empty stream. Throws SluiceError INPUT_UNREADABLE. */
export function checkStdin(names: readonly string[]): void {
  const stdin = names.find(name => name === '-' || name === '/dev/stdin')
  if (stdin === undefined || !fstatSync(0).isDirectory()) return
  throw new SluiceError(failure('INPUT_UNREADABLE', { input: stdin, problem: 'it is a directory' }))
}
