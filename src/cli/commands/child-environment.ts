import { describeOption } from '../../options/describe-option.js'
import type { Tunnel } from '../../programs/tunnel/open-tunnel.js'

type Environment = Readonly<Record<string, string | undefined>>

/** Where programs look for a proxy. curl reads HTTP_PROXY only in lower case. */
const proxyNames = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].flatMap(name => [name, name.toLowerCase()])
const exceptions = ['NO_PROXY', 'no_proxy']
/** Programs must not find the way past the tunnel. */
const ofRealProxy = [...describeOption('proxy').env, ...describeOption('proxyFile').env]

/**
 * Returns the environment of a child that uses the tunnel as its proxy. It holds the token of the tunnel, but no password of the real
 * proxy. `realProxy`: its URL.
 */
export function childEnvironment(
  env: Environment,
  { proxy = '', token, opened }: Pick<Tunnel, 'proxy' | 'token' | 'opened'>,
  realProxy: string | undefined,
): Environment {
  const removed = new Set([...ofRealProxy, ...proxyNames, ...exceptions])
  const isSecret = secretsOf(realProxy)
  const isKept = ([name, value = '']: readonly [string, string | undefined]) => !removed.has(name) && !isSecret(value)
  const url = `http://sluice:${token}@${proxy}`
  // Programs reach this machine directly, unless that is the name of a destination.
  const direct = ['localhost', '127.0.0.1', '::1']
    .filter(name => !opened.some(({ target }) => hostOf(target) === name))
    .join(',')
  return {
    ...Object.fromEntries(Object.entries(env).filter(isKept)),
    ...Object.fromEntries(proxyNames.map(name => [name, url])),
    ...Object.fromEntries(exceptions.map(name => [name, direct])),
    // Node 24 and later read the proxy from the environment if this is set.
    NODE_USE_ENV_PROXY: '1',
    SLUICE_TUNNEL_TOKEN: token,
  }
}

/** Returns whether a value holds the credentials in a URL. A password without its URL may be part of any text. */
function secretsOf(url: string | undefined): (value: string) => boolean {
  const userinfo = url?.match(/^(?:[a-z0-9.+-]+:\/\/)?(.*:.*)@/i)?.[1]
  if (userinfo === undefined) return () => false
  const decoded = decode(userinfo)
  const passwords = [userinfo, decoded].map(pair => pair.slice(pair.indexOf(':') + 1))
  return value => value !== '' && (value.includes(userinfo) || value.includes(decoded) || passwords.includes(value))
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function hostOf(target: string): string {
  return new URL(target.includes('://') ? target : `http://${target}`).hostname.replace(/^\[|\]$/g, '')
}
