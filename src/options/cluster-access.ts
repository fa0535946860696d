import { invalid } from './option-checks.js'
import type { Effective } from './resolve.js'

/** Credentials and certificates for the cluster: the contents of files, not their paths. */
export interface ClusterAccess {
  readonly apiKey?: string
  readonly username?: string
  readonly password?: string
  /** PEM. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  /** The complete proxy URL, and who said it: a flag, a variable, a file. */
  readonly proxy?: { readonly url: string; readonly origin: string }
  readonly proxyCa?: string
}

type FileOption = 'apiKeyFile' | 'passwordFile' | 'proxyFile' | 'ca' | 'cert' | 'key' | 'proxyCa' | 'adminKeyFile'

/**
 * Reads the files that options name. Throws SluiceError OPTION_INVALID with the path and why it cannot be read, never with
 * what stands in it.
 */
export async function readAccess(
  effective: Effective,
  readFile: (path: string) => Promise<string>,
): Promise<ClusterAccess> {
  const { values, origins } = effective
  const read = async (name: FileOption) => {
    const path = values[name]
    return path === undefined ? undefined : await readTrimmed(path, origins[name], readFile)
  }
  const proxyUrl = values.proxy ?? (await read('proxyFile'))
  const proxyOrigin = values.proxy === undefined ? `the file ${values.proxyFile}` : origins.proxy
  return present({
    apiKey: values.apiKey ?? (await read('apiKeyFile')),
    username: values.username,
    password: values.password ?? (await read('passwordFile')),
    ca: await read('ca'),
    cert: await read('cert'),
    key: await read('key'),
    proxy: proxyUrl === undefined ? undefined : { url: withScheme(proxyUrl, proxyOrigin), origin: proxyOrigin },
    proxyCa: await read('proxyCa'),
  })
}

/**
 * Reads the key of the administration API, for the commands that need the key. Throws SluiceError OPTION_INVALID,
 * also if there is no key.
 */
export async function readAdminKey(
  { values, origins }: Effective,
  readFile: (path: string) => Promise<string>,
): Promise<string> {
  const { adminKey, adminKeyFile } = values
  const said = adminKey === undefined ? origins.adminKeyFile : origins.adminKey
  const key =
    adminKey ??
    (adminKeyFile === undefined ? undefined : await readTrimmed(adminKeyFile, origins.adminKeyFile, readFile))
  if (key === undefined) {
    throw invalid(
      '--admin-key-file',
      'the API key of the organisation is not set: set EC_API_KEY, or name a file with --admin-key-file',
    )
  }
  if (!/^[\x21-\x7e]+$/.test(key)) throw invalid(said, 'contains a space or another character that no API key has')
  return key
}

/**
 * Proximo's variable holds only `user:password@host`, for an HTTP proxy on port 80. In any other variable a missing
 * scheme is a mistake.
 */
function withScheme(url: string, origin: string): string {
  if (origin !== 'PROXIMO_URL' || /^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return url
  return /:\d+$/.test(url.slice(url.lastIndexOf('@') + 1)) ? `http://${url}` : `http://${url}:80`
}

export async function readTrimmed(
  path: string,
  origin: string,
  readFile: (path: string) => Promise<string>,
): Promise<string> {
  let content: string
  try {
    content = await readFile(path)
  } catch (error) {
    const reason =
      error instanceof Error && 'code' in error ? (reasons[String(error.code)] ?? String(error.code)) : 'unknown'
    throw invalid(origin, `cannot read ${path}: ${reason}`)
  }
  const trimmed = content.trim()
  if (trimmed === '') throw invalid(origin, `${path} is empty`)
  return trimmed
}

const reasons: Record<string, string> = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
}

type Present<T> = { [K in keyof T]?: NonNullable<T[K]> }

function present<T extends object>(values: T): Present<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<T>
}

/**
 * Reads the certificate that callers see, and its key. Undefined: there is none. Throws SluiceError OPTION_INVALID.
 */
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
 * Reads the token that callers must send. False: callers need none. Throws SluiceError OPTION_INVALID, never with the
 * contents of the file.
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
      'clients need a token: set SLUICE_SERVE_TOKEN, or name a file that contains the token. `openssl rand -hex 32` makes one',
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
