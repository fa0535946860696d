/** How Sluice proves to the cluster who it is. An API key in its encoded form (base64 of id:key), or a username and password. */
export type Credentials = { readonly apiKey: string } | { readonly username: string; readonly password: string }

/** The Authorization header for requests that do not go through the client. */
export function authorization(credentials: Credentials | undefined): Record<string, string> {
  if (credentials === undefined) return {}
  if ('apiKey' in credentials) return { authorization: `ApiKey ${credentials.apiKey}` }
  const pair = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')
  return { authorization: `Basic ${pair}` }
}
