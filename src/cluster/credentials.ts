import { isIP } from 'node:net'

/** An API key in its encoded form (base64 of id:key), or a username and password. */
export type Credentials = { readonly apiKey: string } | { readonly username: string; readonly password: string }

/** Returns the Authorization header for requests that do not go through the client. */
export function authorization(credentials: Credentials | undefined): Record<string, string> {
  if (credentials === undefined) return {}
  if ('apiKey' in credentials) return { authorization: `ApiKey ${credentials.apiKey}` }
  const pair = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')
  return { authorization: `Basic ${pair}` }
}

/** Returns whether a host of a URL is this machine itself. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '')
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'))
}
