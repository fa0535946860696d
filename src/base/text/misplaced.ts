/** Finds credentials in a wrong place or form. A cluster answers all of them alike, and may repeat a secret in a place that it does not guard. */

interface Login {
  readonly apiKey?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** Users that every cluster has. */
const BUILT_IN = /^(elastic|kibana|kibana_system|logstash_system|beats_system|apm_system|remote_monitoring_user)$/

/** An encoded API key is longer: even its id has 20 characters. */
const SHORTEST_KEY = 40

/** Returns which credential is in the place of another one, as far as the credentials themselves show it. Never shows their values. */
export function misplacedIn({ apiKey, username = '', password = '' }: Login): string | undefined {
  if (apiKey !== undefined)
    return isEncodedKey(apiKey) ? undefined : 'The API key is not in its encoded form, which is base64 of ID:KEY'
  for (const [value, name] of [
    [username, 'user name'],
    [password, 'password'],
  ] as const)
    if (value.length >= SHORTEST_KEY && isEncodedKey(value))
      return `The ${name} is an encoded API key. Set it as ELASTICSEARCH_API_KEY, without user name and password`
  if (BUILT_IN.test(password) && !BUILT_IN.test(username))
    return 'The password is the name of a built-in user, so user name and password are probably swapped'
  return username !== '' && username === password ? 'The user name and the password are the same' : undefined
}

function isEncodedKey(apiKey: string): boolean {
  return /^[\x21-\x7e]+:[\x21-\x7e]+$/.test(Buffer.from(apiKey, 'base64').toString('latin1'))
}

/** Returns whether a value was pasted with the quotes around it, straight or typographic. */
export function isQuoted(value: string): boolean {
  return /^(["'`]).*\1$|^[“„‘‚«].*[”“’‘»]$/s.test(value)
}
