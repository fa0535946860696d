import { BROKEN_AGAIN } from '../proxy/fresh-connections.js'
import type { Context, InstanceContext } from './context.js'
import { TOKEN_CALLS } from './probes/instance/instance-login.js'

/** Requests and greetings that a walk can take: what each probe asks at the most, each retry counted. */
export function mostRequests(context: Context): number {
  const { instance } = context
  const toInstance = instance === undefined ? 0 : mostToInstance(context, instance)
  if (context.cluster === '') return mostToProxy(context) + toInstance
  return mostToProxy(context) + mostToCluster(context) + toInstance
}

/** Counts requests that do not depend on the target behind the proxy. */
function mostToProxy({
  way,
  connections,
  options: {
    connecting: { ipCheckUrl },
  },
}: Context): number {
  return way.proxy === undefined ? 0 : GREETINGS + (ipCheckUrl === undefined ? 0 : connections)
}

function mostToCluster({ way, connections, options }: Context): number {
  const { connecting, nodes, index, directCheck, writeCheck } = options
  const { ipCheckUrl } = connecting
  const each = ipCheckUrl === undefined ? 1 : 2
  const attempts = 1 + BROKEN_AGAIN
  // One connection is traced, and traced again if its certificate is refused.
  const always = attempts + 1 + connections * attempts
  const identity = way.credentials === undefined ? 0 : index === undefined ? 1 : 3
  const write = writeCheck ? 3 : 0
  if (way.proxy === undefined) return always + identity + write
  return (
    // If the proxy forwards, the login travels with a request.
    attempts + always + nodes.length * each + (directCheck ? 1 + ROUND_TRIPS : 0) + ROUND_TRIPS + identity + write
  )
}

/** Wrong passwords among them: one for each kind of login. */
function mostToInstance({ options }: Context, { connections, way }: InstanceContext): number {
  const { nodes, directCheck } = options
  const { ipCheckUrl } = options.connecting
  const attempts = 1 + BROKEN_AGAIN
  const connecting = attempts + 1
  // Awake, Basic at two APIs, client_credentials, and the token calls.
  const single = 4 * attempts
  const tokens = TOKEN_CALLS * attempts
  // The login page and the table. With a kept token, the first request may be repeated.
  const doors = 2 * connections * attempts + attempts
  const always = connecting + single + tokens + doors
  if (way.proxy === undefined) return always
  const each = 2 * attempts + (ipCheckUrl === undefined ? 0 : 1)
  return always + nodes.length * each + (directCheck ? attempts : 0)
}

/** One in the scheme's own protocol. If it gets no answer, two others with and without TLS. */
const GREETINGS = 5

const ROUND_TRIPS = 5
