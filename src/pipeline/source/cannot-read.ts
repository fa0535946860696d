import { inspect } from 'node:util'
import { fail, SluiceError, isSluiceError } from '../../base/failure/failure.js'

const problems: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a directory. Pass its files with a glob',
  ENOTDIR: 'a part of its path is a file, not a folder',
  ELOOP: 'its symbolic links form a loop',
  ENAMETOOLONG: 'its path is too long',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  EIO: 'the disk or device failed (EIO)',
  ERR_STREAM_PREMATURE_CLOSE: 'the stream was closed before its end',
}

/** Turns an error of the system, a stream or a caller's iterable into Sluice's own. A SluiceError stays as it is. */
export function cannotRead(input: string, cause: unknown): SluiceError {
  if (isSluiceError(cause)) return cause
  const code = codeOf(cause)
  if (code === 'ENOENT') return fail('INPUT_NOT_FOUND', { input }, { cause })
  const problem = problems[code] ?? described(cause instanceof Error ? cause.message : cause)
  return fail('INPUT_UNREADABLE', { input, problem: onOneLine(problem) }, { cause })
}

/** Returns the code of a system or Node error, or an empty text. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

function described(thrown: unknown): string {
  return typeof thrown === 'string' ? thrown : inspect(thrown)
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
