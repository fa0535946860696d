/** What goes wrong in one load, and when: data, so that a case can be printed and played again. */

/** Strikes from the event of that number on (1 is the first), so many of them. */
interface Turns {
  readonly from: number
  readonly times: number
}

/** How a connection ends: as usual, or with a TCP reset. */
export type End = 'fin' | 'rst'

/** Strikes bulk requests. `stored`: what of their documents is stored all the same. */
export type RequestFault = Turns &
  (
    | { readonly kind: 'answer lost'; readonly end: End }
    | { readonly kind: 'body cut'; readonly share: number; readonly stored: 'none' | 'arrived' }
    | { readonly kind: 'stall'; readonly stored: 'none' | 'all' }
    | { readonly kind: 'drip'; readonly pieces: number; readonly everyMs: number }
    | {
        readonly kind: 'answer cut'
        /** How the answer tells its length; `close`: by the end of the connection, so that nothing tells that it was cut. */
        readonly framing: 'length' | 'chunked' | 'close'
        readonly share: number
        readonly end: End
      }
    | { readonly kind: 'refusal'; readonly refusal: Refusal; readonly stored: 'none' | 'half' | 'all' }
    | { readonly kind: 'busy items'; readonly status: 429 | 503; readonly share: number }
  )

/** From a bulk request on, for so long, every request gets this answer. */
export interface Outage {
  readonly kind: 'outage'
  readonly from: number
  readonly forMs: number
  readonly refusal: Refusal
}

/** Strikes connections to the proxy. */
export type WayFault = Turns &
  (
    | { readonly kind: 'proxy closes'; readonly end: End }
    | { readonly kind: 'login refused' }
    /** A reset when so many bytes have gone towards the proxy. */
    | { readonly kind: 'way cut'; readonly afterBytes: number }
  )

export type Fault = RequestFault | Outage | WayFault

const json = { 'content-type': 'application/json' }
const elastic = { ...json, 'x-elastic-product': 'Elasticsearch' }
const rejected = '{"type":"es_rejected_execution_exception","reason":"rejected execution of coordinating operation"}'
const malformed =
  '{"type":"illegal_argument_exception","reason":"Malformed action/metadata line [1], expected field [create]"}'

export const refusals = {
  'gateway page': {
    status: 502,
    headers: { 'content-type': 'text/html' },
    body: '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>',
  },
  'too many requests': {
    status: 429,
    headers: { ...elastic, 'retry-after': '1' },
    body: `{"error":{"root_cause":[${rejected}],${rejected.slice(1)},"status":429}`,
  },
  'bad request': {
    status: 400,
    headers: elastic,
    body: `{"error":{"root_cause":[${malformed}],${malformed.slice(1)},"status":400}`,
  },
  'edge unavailable': {
    status: 503,
    headers: json,
    body: '{"ok":false,"message":"The requested resource is currently unavailable."}\n',
  },
  filter: {
    status: 403,
    headers: json,
    body: '{"ok":false,"message":"Forbidden due to traffic filtering. Please see the Elastic documentation on Traffic Filtering for more information."}',
  },
} as const
export type Refusal = keyof typeof refusals

/** Counts events, and tells which fault strikes each. Of several the first in the list does. */
export class Program {
  /** How often each kind has struck. */
  readonly struck = new Map<Fault['kind'], number>()
  readonly #faults: readonly Fault[]
  readonly #now: () => number
  readonly #since = new Map<Outage, number>()
  #bulks = 0
  #connections = 0

  /** `now` in milliseconds. */
  constructor(faults: readonly Fault[], now: () => number) {
    this.#faults = faults
    this.#now = now
  }

  /** One request at the cluster. */
  atRequest(isBulk: boolean): RequestFault | Outage | undefined {
    if (isBulk) this.#bulks += 1
    return this.#strike(fault => {
      if (fault.kind === 'outage') return this.#isOut(fault)
      return !isWayFault(fault) && isBulk && isTurn(fault, this.#bulks)
    }) as RequestFault | Outage | undefined
  }

  /** One connection to the proxy. */
  atConnection(): WayFault | undefined {
    this.#connections += 1
    return this.#strike(fault => isWayFault(fault) && isTurn(fault, this.#connections)) as WayFault | undefined
  }

  #strike(strikes: (fault: Fault) => boolean): Fault | undefined {
    const fault = this.#faults.find(strikes)
    if (fault !== undefined) this.struck.set(fault.kind, (this.struck.get(fault.kind) ?? 0) + 1)
    return fault
  }

  #isOut(outage: Outage): boolean {
    const now = this.#now()
    if (this.#bulks >= outage.from && !this.#since.has(outage)) this.#since.set(outage, now)
    return now < (this.#since.get(outage) ?? -Infinity) + outage.forMs
  }
}

export function isWayFault(fault: Fault): fault is WayFault {
  return fault.kind === 'proxy closes' || fault.kind === 'login refused' || fault.kind === 'way cut'
}

function isTurn({ from, times }: Turns, event: number): boolean {
  return event >= from && event < from + times
}
