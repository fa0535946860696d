import { BROKEN_AGAIN } from '../cluster/preflight.js'
import type { Context } from './context.js'

/** Requests and greetings that a walk can take: what each probe asks at the most, each retry counted. */
export function mostRequests({ way, connections, options }: Context): number {
  const { ipCheckUrl, nodes = [], index, directCheck = true, writeCheck = false } = options
  const each = ipCheckUrl === undefined ? 1 : 2
  const attempts = 1 + BROKEN_AGAIN
  // One connection is traced, and looked at again where its certificate is refused.
  const always = attempts + 1 + connections * attempts
  const identity = way.credentials === undefined ? 0 : index === undefined ? 1 : 3
  const write = writeCheck ? 3 : 0
  if (way.proxy === undefined) return always + identity + write
  return (
    GREETINGS +
    // Where the proxy forwards, the login goes with a request.
    attempts +
    (ipCheckUrl === undefined ? 0 : connections) +
    always +
    nodes.length * each +
    (directCheck ? 1 + ROUND_TRIPS : 0) +
    ROUND_TRIPS +
    identity +
    write
  )
}

/** One in the protocol of the scheme; two others, with and without TLS, where that one is not answered. */
const GREETINGS = 5

const ROUND_TRIPS = 5
