/** What may go wrong: each thing alone, and mixed by a seed. */
import { type Seeded, seeded } from '../../support/random/seeded.js'
import {
  type End,
  type Fault,
  type Outage,
  type Refusal,
  type RequestFault,
  type WayFault,
  isWayFault,
} from './chaos-program.js'

/** How Sluice reaches the gate. */
type Way = 'tunnel' | 'forward' | 'socks5'

export interface Case {
  readonly name: string
  readonly faults: readonly Fault[]
  readonly way: Way
  readonly gzip: boolean
  readonly documents: number
  readonly maxElapsedMs: number
  /** The first process is interrupted once so many documents are booked. */
  readonly interruptAfter?: number
  /** Every answer ends its connection, so that the way is taken anew for each request, also by a sender that is slow. */
  readonly closing?: boolean
  /** For the random choices inside a fault. */
  readonly seed: number
  /** Whether edits change each document, or a function leaves some out and makes several of others. Default: they stay as they are. */
  readonly made?: 'edited' | 'transformed' | undefined
}

export interface Scale {
  readonly documents: number
  readonly outageMs: number
  readonly outageFrom: number
  readonly timeoutMs: number
}

/** Outages and time limits of a moment, for `npm test`. */
export const short: Scale = { documents: 800, outageMs: 600, outageFrom: 4, timeoutMs: 1000 }
/** As long as in life. */
export const full: Scale = { documents: 6000, outageMs: 20_000, outageFrom: 50, timeoutMs: 5000 }

/** A fault alone. `stops`: what may stop the run; without it the first process has to finish it. */
export interface Alone extends Case {
  readonly stops?: readonly string[]
}

export function alone({ documents, outageMs, outageFrom, timeoutMs }: Scale): Alone[] {
  const some = { from: 3, times: 3 }
  const cases: Record<string, { readonly fault: Fault; readonly stops?: readonly string[] }> = {
    'an answer lost after the body was stored': { fault: { ...some, kind: 'answer lost', end: 'fin' } },
    'a reset instead of the answer': { fault: { ...some, kind: 'answer lost', end: 'rst' } },
    'a reset in mid-body': { fault: { ...some, kind: 'body cut', share: 0.5, stored: 'none' } },
    'a reset in mid-body, what had arrived stored': {
      fault: { ...some, kind: 'body cut', share: 0.5, stored: 'arrived' },
    },
    'a stall before the body was stored': { fault: { ...some, kind: 'stall', stored: 'none' } },
    'a stall after the body was stored': { fault: { ...some, kind: 'stall', stored: 'all' } },
    'an answer that drips': { fault: { ...some, kind: 'drip', pieces: 20, everyMs: 10 } },
    'an answer that drips for longer than allowed': {
      fault: { from: 3, times: 2, kind: 'drip', pieces: 20, everyMs: timeoutMs / 10 },
    },
    'an answer cut off before its length': {
      fault: { ...some, kind: 'answer cut', framing: 'length', share: 0.5, end: 'fin' },
    },
    'a chunked answer cut off': { fault: { ...some, kind: 'answer cut', framing: 'chunked', share: 0.5, end: 'rst' } },
    'an answer cut off, and nothing tells': {
      fault: { ...some, kind: 'answer cut', framing: 'close', share: 0.5, end: 'fin' },
    },
    'a gateway page': { fault: { ...some, kind: 'refusal', refusal: 'gateway page', stored: 'none' } },
    'a gateway page that hides a stored body': {
      fault: { ...some, kind: 'refusal', refusal: 'gateway page', stored: 'all' },
    },
    'a storm of 429 with Retry-After': {
      fault: { from: 3, times: 8, kind: 'refusal', refusal: 'too many requests', stored: 'none' },
    },
    'one item in ten refused with 429': {
      fault: { from: 1, times: Infinity, kind: 'busy items', status: 429, share: 0.1 },
    },
    'items refused with 503': { fault: { from: 3, times: 6, kind: 'busy items', status: 503, share: 0.5 } },
    'every item refused with 503': { fault: { ...some, kind: 'busy items', status: 503, share: 1 } },
    'a cluster away for a time': {
      fault: { kind: 'outage', from: outageFrom, forMs: outageMs, refusal: 'edge unavailable' },
    },
    'an IP filter that refuses for a time': {
      fault: { kind: 'outage', from: outageFrom, forMs: outageMs, refusal: 'filter' },
      // An outage that ends while it is looked into looks like one address.
      stops: ['EGRESS_NOT_ALLOWED', 'EGRESS_PARTLY_ALLOWED'],
    },
    'one 407': { fault: { from: 3, times: 1, kind: 'login refused' } },
    'a 400 after half the body was stored': {
      fault: { from: 3, times: 1, kind: 'refusal', refusal: 'bad request', stored: 'half' },
    },
    'a proxy that closes on CONNECT': { fault: { from: 3, times: 2, kind: 'proxy closes', end: 'fin' } },
    'a proxy that resets on CONNECT': { fault: { from: 3, times: 2, kind: 'proxy closes', end: 'rst' } },
    'a reset on the way to the proxy': { fault: { from: 2, times: 2, kind: 'way cut', afterBytes: 1500 } },
  }
  return Object.entries(cases).map(([name, { fault, ...more }], at) => ({
    name,
    faults: [fault],
    way: 'tunnel',
    gzip: at % 2 === 1,
    documents,
    maxElapsedMs: 900_000,
    seed: at,
    ...(isWayFault(fault) && { closing: true }),
    ...more,
  }))
}

/** One to five things, each at a time of its own. */
export function mixed(seed: number, { documents, outageMs, timeoutMs }: Scale): Case {
  const random = seeded(seed)
  const { pick, below, chance } = random
  const faults = Array.from({ length: 1 + below(5) }, () => pick(kinds)(random, outageMs, timeoutMs))
  return {
    name: `seed ${seed}`,
    faults,
    way: pick(['tunnel', 'tunnel', 'forward', 'socks5']),
    gzip: chance(0.5),
    documents: documents - below(documents >> 1),
    // A run that may give up soon has to be repeated.
    maxElapsedMs: pick([900_000, 900_000, 1500]),
    ...(chance(0.25) && { interruptAfter: 1 + below(documents) }),
    seed,
    made: ([undefined, 'edited', 'transformed'] as const)[seed % 3],
  }
}

type Make = (random: Seeded, outageMs: number, timeoutMs: number) => Fault

const ends: readonly End[] = ['fin', 'rst']
const turns = ({ below }: Seeded, most = 4) => ({ from: 1 + below(14), times: 1 + below(most) })
const wayTurns = ({ below }: Seeded) => ({ from: 1 + below(6), times: 1 + below(3) })

const kinds: readonly Make[] = [
  (random): RequestFault => ({ ...turns(random), kind: 'answer lost', end: random.pick(ends) }),
  (random): RequestFault => ({
    ...turns(random),
    kind: 'body cut',
    share: random.real(),
    stored: random.pick(['none', 'arrived']),
  }),
  (random): RequestFault => ({ ...turns(random, 2), kind: 'stall', stored: random.pick(['none', 'all']) }),
  (random, _, timeoutMs): RequestFault => ({
    ...turns(random),
    kind: 'drip',
    pieces: 1 + random.below(20),
    everyMs: random.below(timeoutMs / 8),
  }),
  (random): RequestFault => ({
    ...turns(random),
    kind: 'answer cut',
    framing: random.pick(['length', 'chunked', 'close']),
    share: random.real(),
    end: random.pick(ends),
  }),
  (random): RequestFault => ({
    ...turns(random),
    kind: 'refusal',
    refusal: 'gateway page',
    stored: random.pick(['none', 'half', 'all']),
  }),
  (random): RequestFault => ({ ...turns(random), kind: 'refusal', refusal: 'too many requests', stored: 'none' }),
  (random): RequestFault => ({ ...turns(random, 2), kind: 'refusal', refusal: 'bad request', stored: 'half' }),
  (random): RequestFault => ({
    ...turns(random, 12),
    kind: 'busy items',
    status: random.pick([429, 503]),
    share: random.pick([0.1, 0.5, 1]),
  }),
  (random, outageMs): Outage => ({
    kind: 'outage',
    from: 1 + random.below(14),
    forMs: random.below(outageMs),
    refusal: random.pick<Refusal>(['edge unavailable', 'gateway page', 'filter', 'too many requests']),
  }),
  (random): WayFault => ({ ...wayTurns(random), kind: 'proxy closes', end: random.pick(ends) }),
  (random): WayFault => ({ ...wayTurns(random), kind: 'login refused' }),
  (random): WayFault => ({ ...wayTurns(random), kind: 'way cut', afterBytes: 1 + random.below(60_000) }),
]
