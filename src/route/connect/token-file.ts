/** Keeps tokens in a file that processes share and only its owner can read. */
import { chmod, readFile, stat } from 'node:fs/promises'
import { platform } from 'node:os'
import { dirname, resolve } from 'node:path'
import { fail, SluiceError, isSluiceError } from '../../base/failure/failure.js'
import type { Clock } from '../../base/flow.js'
import { makeFolder, replaceFile } from '../../base/disk/safe-files.js'
import { InputLocks } from '../../base/lock/lock.js'
import type { TokenStore } from '../servicenow/login/session.js'
import type { Tokens } from '../servicenow/login/token-call.js'
import { parseObject } from '../../base/json/parse-json.js'

export interface TokenFile {
  readonly path: string
  /** The owner of the tokens: one file may hold those of several instances, clients and users. */
  readonly owner: { readonly instance: string; readonly client: string; readonly user: string; readonly grant: string }
  readonly clock: Clock
  readonly onWarning: (message: string) => void
}

/** The tokens of each owner. Times in milliseconds since 1970. */
type Kept = Readonly<Record<string, Tokens>>

/** Longest wait for another process that renews. */
const LONGEST_WAIT_MS = 30_000
const LOOK_EVERY_MS = 100

/**
 * Opens a store in that file, which the first tokens create. Its methods throw SluiceError: STATE_UNWRITABLE if the file cannot be
 * read or tokens would be lost, OPTION_INVALID if it holds something else.
 */
export function tokensInFile(file: TokenFile): TokenStore {
  const path = resolve(file.path)
  const { instance, client, user, grant } = file.owner
  const key = [instance, client, user, grant].map(encodeURIComponent).join(' ')
  const read = async () => (await readKept(path, file.onWarning))[key]
  return {
    read,
    exclusively: async renew => {
      await using _ = await turn(path, file)
      const kept = await read()
      const tokens = await renew(kept)
      if (tokens !== kept) await write(path, key, tokens, kept, file.onWarning)
      return tokens
    },
  }
}

/** Lets one process at a time renew. If no lock is possible or its holder is slow, each process uses the tokens in the file. */
async function turn(path: string, { clock, onWarning }: TokenFile): Promise<AsyncDisposable> {
  try {
    await makeFolder(dirname(path))
    const locks = await InputLocks.open(dirname(path))
    for (const until = clock.now() + LONGEST_WAIT_MS; clock.now() < until; await clock.sleep(LOOK_EVERY_MS)) {
      if ((await locks.take(`${path}.lock`)) === undefined) return locks
    }
    onWarning(
      `another process has held ${path}.lock for ${LONGEST_WAIT_MS / 1000} s, so Sluice continues without the lock`,
    )
    return locks
  } catch (error) {
    if (isSluiceError(error) && error.code !== 'STATE_UNWRITABLE') throw error
    return { [Symbol.asyncDispose]: async () => await Promise.resolve() }
  }
}

async function readKept(path: string, onWarning: TokenFile['onWarning']): Promise<Kept> {
  let text: string
  try {
    await closeToOthers(path, onWarning)
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw isSluiceError(error) ? error : unwritable(path, error)
  }
  if (text.trim() === '') return {}
  const tokens = parse(text)
  if (tokens === undefined) {
    const problem = `${path} is not a token file. Pass another file, or delete this one`
    throw fail('OPTION_INVALID', { option: 'servicenow.tokenFile', problem })
  }
  return tokens
}

/** Closes the file to other users, with a warning: everyone who can read it has the tokens. */
async function closeToOthers(path: string, onWarning: TokenFile['onWarning']): Promise<void> {
  // Windows has permissions of another kind.
  if (platform() === 'win32') return
  const { mode } = await stat(path)
  if ((mode & 0o077) === 0) return
  await chmod(path, 0o600)
  const had = (mode & 0o777).toString(8).padStart(4, '0')
  onWarning(
    `other users could read the tokens in ${path} (mode ${had}). Now only you can. If you do not trust these users, revoke the tokens`,
  )
}

async function write(
  path: string,
  key: string,
  tokens: Tokens,
  before: Tokens | undefined,
  onWarning: TokenFile['onWarning'],
): Promise<void> {
  try {
    await makeFolder(dirname(path))
    const all = { ...(await readKept(path, onWarning)), [key]: tokens }
    await replaceFile(path, `${JSON.stringify({ version: 1, tokens: all }, undefined, 2)}\n`)
  } catch (error) {
    // The kept refresh token gives new tokens, so only one call is lost.
    if (before !== undefined && tokens.refreshToken === before.refreshToken) return
    throw isSluiceError(error) ? error : unwritable(path, error)
  }
}

function parse(text: string): Kept | undefined {
  const { version, tokens } = parseObject(text) ?? {}
  if (version !== 1 || typeof tokens !== 'object' || tokens === null) return undefined
  const isWhole = Object.values(tokens).every((one: Partial<Tokens> | null) => typeof one?.accessToken === 'string')
  return isWhole ? (tokens as Kept) : undefined
}

function unwritable(path: string, error: unknown): SluiceError {
  const { code, message } = error as NodeJS.ErrnoException
  return fail('STATE_UNWRITABLE', { path, problem: code ?? message }, { cause: error })
}
