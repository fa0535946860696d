/** Why a later probe has nothing to see: how far the way was found open. Undefined: so far it is. */
import type { Facts } from './facts.js'

/** No connection to the proxy can stand. */
export function proxyProblem({ address, port, plaintext, hosts }: Facts): string | undefined {
  if (plaintext !== undefined) return 'credentials would be sent unencrypted'
  if (hosts?.clusterIsProxy === true) return 'the cluster URL is no cluster'
  if (address?.failure !== undefined) return 'the proxy cannot be reached'
  return port?.failure === undefined ? undefined : 'the port speaks another protocol'
}

/** The proxy leads nowhere, whatever the destination. */
export function loginProblem(facts: Facts): string | undefined {
  const code = facts.connection?.failure?.code
  const isClosed = code === 'PROXY_AUTH_REJECTED' || code === 'PROXY_CERT_INVALID' || code === 'PROXY_UNREACHABLE'
  // It answered no greeting, and no request.
  const isSilent = facts.port?.isPrompt === false && code?.endsWith('_TIMEOUT') === true
  return proxyProblem(facts) ?? (isClosed || isSilent ? 'the proxy cannot be used' : undefined)
}

/** No request can reach the cluster. */
export function pathProblem(facts: Facts): string | undefined {
  const closed = facts.connection?.failure === undefined ? undefined : 'no connection to the cluster stands'
  return proxyProblem(facts) ?? closed
}

/** The cluster answers no question about itself. */
export function clusterProblem(facts: Facts): string | undefined {
  const { filter } = facts
  const before = pathProblem(facts)
  if (before !== undefined) return before
  if (filter === undefined || filter.failure !== undefined) return 'the cluster cannot be asked'
  if (filter.refused > 0) return 'the IP filter refuses connections'
  return filter.rejected === undefined ? undefined : 'the credentials are refused'
}
