import { invalid } from '../options/candidate.js'
import { DEFAULT_LISTEN } from './check-serve-options.js'
import type { ServeOptions } from './serve-options.js'

const problems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another program: stop it, or pass another port',
  EACCES: 'is a port that this user may not open: pass one above 1023',
  EADDRNOTAVAIL: 'is not an address of this machine',
  ENOTFOUND: 'is a name that cannot be resolved',
}

/** An address that cannot be had, as an option that is wrong. Any other error stays as it is. */
export function cannotListen({ listen = DEFAULT_LISTEN }: ServeOptions, error: unknown): unknown {
  const { code = '' } = error as NodeJS.ErrnoException
  // What is no certificate or no key is told by OpenSSL, without the key.
  if (code.startsWith('ERR_OSSL')) return invalid('tls', `is not a certificate with its key (${code})`)
  const problem = problems[code]
  return problem === undefined ? error : invalid('listen', `'${listen}' ${problem}`)
}
