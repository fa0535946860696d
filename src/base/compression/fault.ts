import { fail, isSluiceError } from '../failure/failure.js'

/** The position of a decoder: its input, and how many bytes it has decoded. */
export interface StreamPlace {
  readonly input: string
  readonly encoding: string
  bytes: number
}

export function truncated({ input, encoding, bytes }: StreamPlace, cause?: unknown): Error {
  return fail('INPUT_TRUNCATED', { input, encoding, bytes }, { cause })
}

export function corrupt({ input, encoding, bytes }: StreamPlace, why: string, cause?: unknown): Error {
  const problem = `its ${encoding} data is corrupt (${why}) after ${bytes} decoded bytes`
  return fail('INPUT_UNREADABLE', { input, problem, bytes }, { cause })
}

/** Explains an error of `node:zlib`. Another error stays as it is. */
export function explained(error: unknown, place: StreamPlace): unknown {
  if (isSluiceError(error) || !(error instanceof Error)) return error
  const code = 'code' in error ? String(error.code) : ''
  if (code === 'Z_BUF_ERROR') return truncated(place, error)
  return /^(Z_|ZSTD_|ERR_BROTLI|ERR_PADDING|ERR__ERROR)/.test(code) ? corrupt(place, error.message, error) : error
}
