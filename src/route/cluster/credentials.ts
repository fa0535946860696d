import { fail } from '../../base/failure/failure.js'
import { isLoopback } from '../../base/addresses.js'

/** An API key in its encoded form (base64 of id:key), or a username and password. */
export type Credentials = { readonly apiKey: string } | { readonly username: string; readonly password: string }

/** Returns the Authorization header for requests that do not go through the client. */
export function authorization(credentials: Credentials | undefined): Record<string, string> {
  if (credentials === undefined) return {}
  if ('apiKey' in credentials) return { authorization: `ApiKey ${credentials.apiKey}` }
  const pair = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')
  return { authorization: `Basic ${pair}` }
}

interface Sending {
  readonly url: URL
  readonly credentials?: Credentials | undefined
  readonly proxy?: { readonly host: string } | undefined
  /** Send credentials over plain http to another machine. */
  readonly allowPlaintext?: boolean | undefined
}

/** Throws SluiceError PLAINTEXT_CREDENTIALS if credentials would cross the network unencrypted without permission. */
export function refusePlaintext({ url, credentials, allowPlaintext, proxy }: Sending): void {
  if (url.protocol !== 'http:' || credentials === undefined || allowPlaintext === true) return
  // Through a proxy on another machine, even a request to localhost crosses the network.
  const local = isLoopback(url.hostname) && (proxy === undefined || isLoopback(proxy.host))
  if (!local) throw fail('PLAINTEXT_CREDENTIALS', { url: url.origin })
}
