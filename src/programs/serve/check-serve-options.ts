import * as check from '../../options/option-checks.js'
import { isLoopback, type ListenAddress, listenAddressIn, listenProblem } from '../../base/addresses.js'
import { defaults } from '../../options/describe-option.js'
import { isPattern } from '../../base/text/index-pattern.js'
import { invalid } from '../../options/option-checks.js'
import { ofOneLoad, type ServeOptions } from './serve-options.js'

const DEFAULT_LISTEN = defaults.listen
export const DEFAULT_MAX_BODY = defaults.maxBody
export const DEFAULT_MAX_DOCUMENTS = defaults.maxDocuments
export const DEFAULT_SPOOL_LIMIT = 1_000_000_000
const SHORTEST_TOKEN = 16

/** Checks the options that `ingest` does not have. All others are checked as options of `ingest`. */
const own = {
  token: value => (value === false ? undefined : check.token(value)),
  listen: check.name,
  tls: value => problemOfTls(value),
  path: check.name,
  maxBody: check.whole(1000, 100_000_000),
  maxDocuments: check.whole(1, 10_000_000),
  spoolLimit: check.whole(1_000_000, Number.MAX_SAFE_INTEGER),
  acceptAnyway: check.flag,
  metrics: check.oneOf('off', 'open', 'token'),
  onEvent: check.listener,
} as const satisfies Partial<Record<keyof ServeOptions, check.Check>>

type Own = keyof typeof own

/** Checks the options of `serve` and returns the address to listen on. Throws SluiceError OPTION_INVALID. */
export function checkServeOptions(given: ServeOptions): ListenAddress {
  for (const [option, isFine] of Object.entries(own) as [Own, check.Check][]) {
    const value: unknown = given[option]
    const problem = value === undefined ? undefined : isFine(value)
    if (problem !== undefined) throw invalid(option, problem)
  }
  const unfit = ofOneLoad.find(option => Object.hasOwn(given, option))
  if (unfit !== undefined) throw invalid(unfit, 'is not an option of sluice serve')
  const { stateDir, token, path = '/' } = given as Partial<ServeOptions>
  if (stateDir === undefined)
    throw invalid('stateDir', 'is needed, because Sluice keeps accepted documents there until they are loaded')
  if (typeof given.index === 'string' && isPattern(given.index))
    throw invalid(
      'index',
      'has a field in it. Only sluice ingest supports this. Use one index or data stream, or a pipeline that reroutes',
    )
  const ids: unknown = given.ids
  if (ids === 'cluster')
    throw invalid('ids', "cannot be 'cluster', because documents would be stored twice if the process is killed")
  if (!/^\/[^\s?#]*$/.test(path)) throw invalid('path', 'is not a path. A path begins with a slash and has no query')
  if (path === '/health') throw invalid('path', 'is the path of the health report. Choose another path')
  if (path === '/metrics' && (given.metrics ?? 'off') !== 'off')
    throw invalid('path', 'is the path of the metrics. Choose another path')
  const address = readAddress(given.listen ?? DEFAULT_LISTEN)
  checkToken(token, address)
  return address
}

function problemOfTls(value: unknown): string | undefined {
  const found = check.problemIn(value, { cert: check.pem, key: check.pem })
  if (found !== undefined) return [found.option, found.problem].filter(Boolean).join(' ')
  const { cert, key } = value as Partial<NonNullable<ServeOptions['tls']>>
  return cert === undefined || key === undefined ? 'needs both cert and key' : undefined
}

function checkToken(token: string | false | undefined, { host }: ListenAddress): void {
  if (token === undefined) throw invalid('token', 'a token is required. Callers send it as Authorization: Bearer TOKEN')
  if (token === false) {
    if (!isLoopback(host))
      throw invalid(
        'token',
        `a token is required, because other machines can reach ${host} and could write to the index`,
      )
    return
  }
  if (token.length < SHORTEST_TOKEN || /\s/.test(token))
    throw invalid(
      'token',
      `must have at least ${SHORTEST_TOKEN} characters and no spaces. \`openssl rand -hex 32\` makes one`,
    )
}

function readAddress(text: string): ListenAddress {
  const address = listenAddressIn(text)
  if (address !== undefined) return address
  throw invalid('listen', `'${text}' is not an address and a port, as in 127.0.0.1:8080 or 0.0.0.0:8080`)
}

/** Turns the error of an address that cannot be used into an error of its option. Returns any other error as it is. */
export function cannotListen({ listen = DEFAULT_LISTEN }: ServeOptions, error: unknown): unknown {
  const { code = '' } = error as NodeJS.ErrnoException
  // OpenSSL reports a bad certificate or key. Its code does not hold the key.
  if (code.startsWith('ERR_OSSL')) return invalid('tls', `is not a certificate with its key (${code})`)
  const problem = listenProblem(error)
  return problem === undefined ? error : invalid('listen', `'${listen}' ${problem}`)
}
