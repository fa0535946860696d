import type { Faults } from '../faults.js'

/** A fault to plant, as the page offers it: what it does, and details to start from. */
interface Example {
  readonly says: string
  readonly details: unknown
}

/** Typed by the faults, so that none is missing. */
export const examples: { readonly [Name in keyof Faults]-?: Example & { readonly details: Faults[Name] } } = {
  filter: { says: 'The IP filter refuses every address', details: { times: 3 } },
  nodeDown: { says: 'One node of the proxy is down', details: { node: 'first' } },
  login: { says: 'The proxy refuses the right password', details: { times: 1 } },
  handshake: { says: 'The proxy closes, resets or keeps silent', details: { kind: 'rst', times: 1 } },
  cut: { says: 'The proxy resets a tunnel after some bytes', details: { afterBytes: 4096, times: 1 } },
  inboundCut: { says: 'A caller of the inbound entry is cut off', details: { afterBytes: 4096, times: 1 } },
  latencyMs: { says: 'The proxy is slow, in milliseconds', details: 200 },
  rate: { says: 'A gateway limits requests per second', details: { perSecond: 5 } },
  edge: { says: 'The edge of Elastic Cloud answers itself', details: 'unavailable' },
  bulk: { says: 'Bulk requests get a status', details: { status: 429, times: 3 } },
  items: {
    says: 'Documents of bulk requests are refused',
    details: { status: 429, type: 'es_rejected_execution_exception', times: 3 },
  },
  capacity: { says: 'The cluster is slow and takes few requests at once', details: { inFlight: 2, tookMs: 200 } },
  hold: { says: 'Bulk requests get no answer', details: { times: 1 } },
  drop: { says: 'Bulk requests are stored, and the answer is lost', details: { times: 1 } },
  damage: { says: 'Bulk requests are stored, and the answer is damaged', details: { how: 'cut', times: 1 } },
  failureStore: { says: 'Documents go to the failure store', details: { times: 1 } },
  lookup: { says: 'Lookups get a status', details: { status: 503, times: 1 } },
  stall: { says: 'Requests of a kind get no answer', details: { method: 'PUT', path: '/_settings', times: 1 } },
}
