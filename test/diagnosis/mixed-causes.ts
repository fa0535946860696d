/** What is wrong with every second connection alone: one node of the proxy, or one of its addresses. On any world. */
import { type PlayedEnd, startFront } from '../contracts/mixing-front.js'
import type { Cause } from './cause.js'
import { by, doctor } from './ways.js'

const nowhere = { barred: 1, busy: 1, unwell: 1, tls: 1, foreign: 1, credentials: 1 }

const half = (planted: string, end: PlayedEnd, told: Pick<Cause, 'expected' | 'says'>): Cause => ({
  planted,
  on: 'a server of the test',
  ...told,
  plant: async (world, owner) => {
    const front = startFront({ nodes: world.proxy.nodes, ports: nowhere, ends: ['accepted', end] })
    // Every silent connection waits so long, and one that works may take no longer.
    const timeoutMs = 15_000
    return doctor(world, { ...by(world, (await owner.own(front)).url), preflightConnections: 8, timeoutMs })
  },
})

const node = 'PROXY_NODE_FAILS'

export const mixedCauses: readonly Cause[] = [
  half('one of two nodes of the proxy breaks every connection', 'reset', { expected: node, says: 'closed' }),
  half('one of two nodes of the proxy says nothing', 'stuck', { expected: node, says: 'did not answer' }),
  half('one of two nodes of the proxy has an old password', 'login', { expected: node, says: '407' }),
  half('one of two nodes of the proxy cannot reach the cluster', 'unreached', { expected: node, says: 'cannot reach' }),
  half('connections from one of two addresses are dropped silently', 'silent', {
    expected: 'EGRESS_PARTLY_ALLOWED',
    says: 'silently dropped',
  }),
]
