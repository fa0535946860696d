/** What is named for every pair of ends of connections: for the pure function, and for the suites that plant them. */
import { type End, type Ended, ways } from '../../../src/route/cluster/connection-end.js'
import type { Named } from '../../../src/route/cluster/connection-mix.js'
import { type Failure, failure, type FailureCode } from '../../../src/base/failure/failure.js'

export const ends = Object.keys(ways) as End[]

/** Each end in two letters. */
export const short: Readonly<Record<End, string>> = {
  refused: 'rf',
  reset: 'rs',
  stuck: 'st',
  silent: 'si',
  proxyTls: 'pt',
  login: 'lo',
  denied: 'de',
  limited: 'li',
  unreached: 'ur',
  filtered: 'fi',
  barred: 'ba',
  busy: 'bu',
  unwell: 'uw',
  tls: 'tl',
  foreign: 'fo',
  credentials: 'cr',
  accepted: 'ac',
}

/**
 * Two letters for what is named. Of an end: its failure stops the load. `PR`, `PD`: EGRESS_PARTLY_ALLOWED, refused or dropped. The load
 * begins with a warning: `N!` a node of the proxy, `L!` its limit, `G!` the limit of a gateway, `C!` the cluster. `ok`: it begins with a note.
 */
export const warnings: Readonly<Record<string, FailureCode>> = {
  'N!': 'PROXY_NODE_FAILS',
  'L!': 'PROXY_LIMIT_REACHED',
  'G!': 'GATEWAY_LIMITED',
  'C!': 'CLUSTER_UNAVAILABLE',
}

/** Eight connections of each. */
export const half = `.. rf rs st si pt lo de li ur fi ba bu uw tl fo cr ac
rf -- rs st si pt lo de li ur fi ba bu uw tl fo cr N!
rs rs -- st si pt lo de li ur fi ba bu uw tl fo cr N!
st st st -- si pt lo de li ur fi ba bu uw tl fo cr N!
si si si si -- pt lo de li ur fi ba bu uw tl fo cr PD
pt pt pt pt pt -- lo de pt pt fi ba pt pt tl fo cr N!
lo lo lo lo lo lo -- de lo lo fi ba lo lo tl fo cr N!
de de de de de de de -- de de fi ba de de tl fo cr N!
li li li li li pt lo de -- ur fi ba bu uw tl fo cr L!
ur ur ur ur ur pt lo de ur -- fi ba bu uw tl fo cr N!
fi fi fi fi fi fi fi fi fi fi -- fi fi fi tl fo PR PR
ba ba ba ba ba ba ba ba ba ba fi -- ba ba tl fo PR PR
bu bu bu bu bu pt lo de bu bu fi ba -- uw tl fo cr G!
uw uw uw uw uw pt lo de uw uw fi ba uw -- tl fo cr C!
tl tl tl tl tl tl tl tl tl tl tl tl tl tl -- fo cr tl
fo fo fo fo fo fo fo fo fo fo fo fo fo fo fo -- cr fo
cr cr cr cr cr cr cr cr cr cr PR PR cr cr cr cr -- cr
ac N! N! N! PD N! N! N! L! N! PR PR G! C! tl fo cr --`

/** Fifteen of the row, and one of the column. */
export const fifteen = `.. rf rs st si pt lo de li ur fi ba bu uw tl fo cr ac
rf -- rf rf rf rf rf rf rf rf fi rf rf rf tl fo cr rf
rs rs -- rs rs rs rs rs rs rs fi rs rs rs tl fo cr rs
st st st -- st st st st st st fi st st st tl fo cr st
si si si si -- si si si si si fi si si si tl fo cr si
pt pt pt pt pt -- pt pt pt pt fi pt pt pt tl fo cr pt
lo lo lo lo lo lo -- lo lo lo fi lo lo lo tl fo cr lo
de de de de de de de -- de de fi de de de tl fo cr de
li li li li li li li li -- li fi li li li tl fo cr L!
ur ur ur ur ur ur ur ur ur -- fi ur ur ur tl fo cr ur
fi fi fi fi fi fi fi fi fi fi -- fi fi fi tl fo PR PR
ba ba ba ba ba ba ba ba ba ba fi -- ba ba tl fo cr ba
bu bu bu bu bu bu bu bu bu bu fi bu -- bu tl fo cr G!
uw uw uw uw uw uw uw uw uw uw fi uw uw -- tl fo cr uw
tl tl tl tl tl tl tl tl tl tl tl tl tl tl -- tl tl tl
fo fo fo fo fo fo fo fo fo fo fo fo fo fo fo -- fo fo
cr cr cr cr cr cr cr cr cr cr PR cr cr cr cr cr -- cr
ac ok ok ok ok ok ok ok ok ok PR ba ok ok tl fo cr --`

/** Returns what a table has for a row and a column. */
export function cellOf(table: string, row: End, column: End): string {
  const [head = [], ...rows] = table.split('\n').map(line => line.split(' '))
  const line = rows.find(([name]) => name === short[row]) ?? []
  return line[head.indexOf(short[column])] ?? ''
}

export const cluster = 'https://cluster.example'
export const proxy = 'http://proxy.example:9293'
const target = 'cluster.example:443'

/** The failure that each end comes from, but for the connections that are accepted. */
export const seen = {
  refused: failure('PROXY_UNREACHABLE', { proxy, problem: 'connect ECONNREFUSED 192.0.2.1:9293' }),
  reset: failure('PROXY_UNREACHABLE', { proxy, problem: 'it closed the connection without an answer to CONNECT' }),
  stuck: failure('PROXY_TIMEOUT', { proxy, limitMs: 1, after: 'Sluice began to connect', phase: 'proxy-connect' }),
  proxyTls: failure('PROXY_CERT_INVALID', { proxy, problem: 'CERT_HAS_EXPIRED' }),
  login: failure('PROXY_AUTH_REJECTED', { proxy, observed: 'status 407' }),
  denied: failure('PROXY_DENIED_TARGET', { proxy, target, observed: 'status 403' }),
  limited: failure('PROXY_LIMIT_REACHED', { proxy, observed: 'status 429' }),
  unreached: failure('PROXY_TARGET_UNREACHABLE', { proxy, target, observed: 'status 503' }),
  silent: failure('PROXY_TIMEOUT', { proxy, limitMs: 1, after: 'Sluice asked', phase: 'proxy-handshake' }),
  filtered: failure('EGRESS_NOT_ALLOWED', { cluster, refused: 1, probes: 1, observed: 'Forbidden' }),
  barred: failure('GATEWAY_REFUSED', { cluster, status: 403, observed: 'status 403, a page' }),
  busy: failure('GATEWAY_LIMITED', { cluster, observed: 'status 429' }),
  unwell: failure('CLUSTER_UNAVAILABLE', { cluster, observed: 'status 503' }),
  tls: failure('CLUSTER_CERT_INVALID', { cluster, problem: 'CERT_HAS_EXPIRED' }),
  foreign: failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed: 'a page' }),
  credentials: failure('CLUSTER_AUTH_REJECTED', { cluster, how: 'refused the credentials', reason: 'no such key' }),
} as const satisfies Record<Exclude<End, 'accepted'>, Failure>

export function ended(end: End, more: Partial<Ended> = {}): Ended {
  if (end === 'accepted') return { end, tookMs: 50, ...more }
  const { evidence, ...named } = seen[end]
  return {
    end,
    failure: { ...named, evidence: { ...evidence, end } },
    isPastFilter: end === 'credentials',
    tookMs: 10_000,
    ...more,
  }
}

/** What is named, in two letters: the end whose failure stops the load, one of the two forms of a half open filter, or a warning. */
export function shown({ failure: stop, warning, note }: Named): string {
  if (stop?.code === 'EGRESS_PARTLY_ALLOWED') return stop.evidence['how'] === 'refused' ? 'PR' : 'PD'
  if (stop !== undefined) return short[stop.evidence['end'] as End]
  const letters = Object.keys(warnings).find(one => warnings[one] === warning?.code)
  if (letters !== undefined) return letters
  return note === undefined ? '..' : 'ok'
}
