/** Says why a probe has nothing to look at, given what the probes before it saw. */
import type { Facts } from './facts.js'

/** Returns why no connection to the proxy can stand. */
export function proxyProblem(facts: Facts): string | undefined {
  if (facts.plaintext !== undefined) return 'credentials would be sent unencrypted'
  if (facts.hosts?.clusterIsProxy === true) return 'the cluster URL is the URL of the proxy'
  return portProblem(facts)
}

function portProblem({ address, port }: Facts): string | undefined {
  if (address?.failure !== undefined) return 'the proxy cannot be reached'
  return port?.failure && 'the port speaks another protocol'
}

/** Returns why the proxy leads nowhere, whatever the destination. */
export function loginProblem(facts: Facts): string | undefined {
  return proxyProblem(facts) ?? closedProblem([facts.connection, facts.instanceConnection], facts)
}

/** The proxy refuses every destination. */
const ofProxy: ReadonlySet<string> = new Set([
  'PROXY_AUTH_REJECTED',
  'PROXY_ACCOUNT_REFUSED',
  'PROXY_NOT_A_PROXY',
  'PROXY_CERT_INVALID',
  'PROXY_CLIENT_CERT',
  'PROXY_UNREACHABLE',
])

function closedProblem(connections: readonly Facts['connection'][], { port }: Facts): string | undefined {
  const isClosed = connections.some(connection => {
    const code = connection?.failure?.code
    // The proxy answered no greeting and no request.
    const isSilent = port?.isPrompt === false && code?.endsWith('_TIMEOUT') === true
    return isSilent || (code !== undefined && ofProxy.has(code))
  })
  return isClosed ? 'the proxy cannot be used' : undefined
}

/** Returns why nothing can reach the instance through the proxy. Problems of the cluster do not count. */
export function instanceWayProblem(facts: Facts): string | undefined {
  if (facts.instance?.proxy === undefined) return undefined
  return portProblem(facts) ?? closedProblem([facts.connection], facts)
}

export function instanceProblem(facts: Facts): string | undefined {
  if (facts.instanceConnection?.failure !== undefined) return 'there is no connection to the instance'
  return instanceWayProblem(facts) ?? (facts.instanceAwake?.failure && 'the instance does not answer')
}

export function pathProblem(facts: Facts): string | undefined {
  return proxyProblem(facts) ?? (facts.connection?.failure && 'there is no connection to the cluster')
}

/** Returns why the cluster answers no question about itself. */
export function clusterProblem(facts: Facts): string | undefined {
  const { filter } = facts
  const before = pathProblem(facts)
  if (before !== undefined) return before
  if (filter === undefined || filter.failure !== undefined) return 'the cluster does not answer'
  if (filter.refused > 0) return 'the IP filter refuses connections'
  if (filter.isManaged === true) return 'the managed ingest endpoint gives no information about the cluster'
  return filter.rejected && 'the cluster refuses the credentials'
}
