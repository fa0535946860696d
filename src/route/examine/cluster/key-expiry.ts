import { jsonIn } from '../../cluster/answers.js'
import { isObject } from '../../../base/json/parse-json.js'
import type { Context, Probe } from '../context.js'
import { clusterProblem } from '../obstacles.js'

/** Finds out when the API key expires. Every key may ask about itself. Only a watch asks. */
export const keyExpiry: Probe = {
  name: 'expiry of the API key',
  leaveOut: (context, facts) => (keyId(context) === undefined ? 'no API key is set' : clusterProblem(facts)),
  look: async context => {
    await using route = context.openRoute()
    const path = `${context.prefix}/_security/api_key?id=${encodeURIComponent(keyId(context) ?? '')}`
    const answer = await context.ask(route, { path, headers: context.headers })
    const end = 'code' in answer ? undefined : expirationIn(jsonIn(answer)['api_keys'])
    return { detail: end ?? 'the cluster names none', facts: { keyExpiry: end } }
  },
}

/** Returns the id in an encoded key, which is `ID:SECRET` in base64. */
function keyId({ way: { credentials } }: Context): string | undefined {
  const apiKey = credentials !== undefined && 'apiKey' in credentials ? credentials.apiKey : ''
  const [id = '', secret] = Buffer.from(apiKey, 'base64').toString().split(':')
  return secret === undefined || !/^[\w-]+$/.test(id) ? undefined : id
}

function expirationIn(keys: unknown): string | undefined {
  const [key]: unknown[] = Array.isArray(keys) ? keys : []
  const expiration = isObject(key) ? key['expiration'] : undefined
  // The largest time that a date can hold.
  return typeof expiration === 'number' && Math.abs(expiration) <= 8.64e15
    ? new Date(expiration).toISOString()
    : undefined
}
