/** Returns why a later probe is skipped, or undefined if the path is open so far. */
import type { Facts } from './facts.js'

/** No connection to the proxy can stand. */
export function proxyProblem(facts: Facts): string | undefined {
  if (facts.plaintext !== undefined) return 'credentials would be sent unencrypted'
  if (facts.hosts?.clusterIsProxy === true) return 'the cluster URL is that of the proxy'
  return portProblem(facts)
}

function portProblem({ address, port }: Facts): string | undefined {
  if (address?.failure !== undefined) return 'the proxy cannot be reached'
  return port?.failure === undefined ? undefined : 'the port speaks another protocol'
}

/** The proxy leads nowhere, whatever the destination. */
export function loginProblem(facts: Facts): string | undefined {
  const { connection, instanceConnection } = facts
  const isClosed = [connection, instanceConnection].some(one => isProxyClosed(one?.failure?.code, facts))
  return proxyProblem(facts) ?? (isClosed ? 'the proxy cannot be used' : undefined)
}

function isProxyClosed(code: string | undefined, { port }: Facts): boolean {
  const isClosed = code === 'PROXY_AUTH_REJECTED' || code === 'PROXY_CERT_INVALID' || code === 'PROXY_UNREACHABLE'
  // The proxy answered no greeting and no request.
  const isSilent = port?.isPrompt === false && code?.endsWith('_TIMEOUT') === true
  return isClosed || isSilent
}

/** Returns why nothing can reach the instance through the proxy. Problems of the cluster do not count. */
export function instanceWayProblem(facts: Facts): string | undefined {
  if (facts.instance?.proxy === undefined) return undefined
  const isClosed = isProxyClosed(facts.connection?.failure?.code, facts)
  return portProblem(facts) ?? (isClosed ? 'the proxy cannot be used' : undefined)
}

/** No request can reach the instance. */
export function instanceProblem(facts: Facts): string | undefined {
  if (facts.instanceConnection?.failure !== undefined) return 'there is no connection to the instance'
  const isAsleep = facts.instanceAwake?.failure !== undefined
  return instanceWayProblem(facts) ?? (isAsleep ? 'the instance does not answer' : undefined)
}

/** No request can reach the cluster. */
export function pathProblem(facts: Facts): string | undefined {
  const closed = facts.connection?.failure === undefined ? undefined : 'there is no connection to the cluster'
  return proxyProblem(facts) ?? closed
}

/** The cluster answers no question about itself. */
export function clusterProblem(facts: Facts): string | undefined {
  const { filter } = facts
  const before = pathProblem(facts)
  if (before !== undefined) return before
  if (filter === undefined || filter.failure !== undefined) return 'the cluster does not answer'
  if (filter.refused > 0) return 'the IP filter refuses connections'
  return filter.rejected === undefined ? undefined : 'the cluster refuses the credentials'
}
