import { invalid } from './candidate.js'
import type { Effective } from './resolve.js'

/** The certificate that callers see, and its key. Undefined: there is none. Throws SluiceError OPTION_INVALID. */
export async function readServeTls(
  { values, origins }: Effective,
  readFile: (path: string) => Promise<string>,
): Promise<{ readonly cert: string; readonly key: string } | undefined> {
  const { serveCert, serveKey } = values
  if (serveCert === undefined || serveKey === undefined) return undefined
  const read = async (path: string, origin: string) => {
    try {
      return await readFile(path)
    } catch (error) {
      throw unreadable(path, origin, error)
    }
  }
  return { cert: await read(serveCert, origins.serveCert), key: await read(serveKey, origins.serveKey) }
}

/**
 * The token that callers of a receiver bring; false where none is asked for. Throws SluiceError OPTION_INVALID, never with what stands in
 * the file.
 */
export async function readServeToken(
  { values, origins }: Effective,
  readFile: (path: string) => Promise<string>,
): Promise<string | false> {
  const { serveToken, serveTokenFile, noToken } = values
  const isSet = serveToken !== undefined || serveTokenFile !== undefined
  if (noToken && isSet) {
    const other = serveToken === undefined ? origins.serveTokenFile : origins.serveToken
    throw invalid(origins.noToken, `cannot be combined with ${other}`)
  }
  if (noToken) return false
  if (serveToken !== undefined) return serveToken
  if (serveTokenFile === undefined) {
    throw invalid(
      '--serve-token-file',
      'callers have to prove who they are: set SLUICE_SERVE_TOKEN, or name a file that holds the token; `openssl rand -hex 32` makes one',
    )
  }
  try {
    return (await readFile(serveTokenFile)).trim()
  } catch (error) {
    throw unreadable(serveTokenFile, origins.serveTokenFile, error)
  }
}

function unreadable(path: string, origin: string, error: unknown): unknown {
  const { code = 'unknown' } = error as NodeJS.ErrnoException
  return invalid(origin, `cannot read ${path}: ${code}`)
}
