/** What is named for every pair of ends of connections: for the pure function, and for the suites that plant them. */
import { type End, ways } from '../../src/cluster/connection-end.js'
import type { FailureCode } from '../../src/failure/catalogue.js'

export const ends = Object.keys(ways) as End[]

/** Each end in two letters. */
export const short: Readonly<Record<End, string>> = {
  refused: 'rf',
  reset: 'rs',
  stuck: 'st',
  proxyTls: 'pt',
  login: 'lo',
  denied: 'de',
  limited: 'li',
  unreached: 'ur',
  silent: 'si',
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
export const half = `.. rf rs st pt lo de li ur si fi ba bu uw tl fo cr ac
rf -- rs st pt lo de li ur si fi ba bu uw tl fo cr N!
rs rs -- st pt lo de li ur si fi ba bu uw tl fo cr N!
st st st -- pt lo de li ur si fi ba bu uw tl fo cr N!
pt pt pt pt -- lo de pt pt pt fi ba pt pt tl fo cr N!
lo lo lo lo lo -- de lo lo lo fi ba lo lo tl fo cr N!
de de de de de de -- de de de fi ba de de tl fo cr N!
li li li li pt lo de -- ur si fi ba bu uw tl fo cr L!
ur ur ur ur pt lo de ur -- si fi ba bu uw tl fo cr N!
si si si si pt lo de si si -- fi ba bu uw tl fo cr PD
fi fi fi fi fi fi fi fi fi fi -- fi fi fi tl fo PR PR
ba ba ba ba ba ba ba ba ba ba fi -- ba ba tl fo PR PR
bu bu bu bu pt lo de bu bu bu fi ba -- uw tl fo cr G!
uw uw uw uw pt lo de uw uw uw fi ba uw -- tl fo cr C!
tl tl tl tl tl tl tl tl tl tl tl tl tl tl -- fo cr tl
fo fo fo fo fo fo fo fo fo fo fo fo fo fo fo -- cr fo
cr cr cr cr cr cr cr cr cr cr PR PR cr cr cr cr -- cr
ac N! N! N! N! N! N! L! N! PD PR PR G! C! tl fo cr --`

/** Fifteen of the row, and one of the column. */
export const fifteen = `.. rf rs st pt lo de li ur si fi ba bu uw tl fo cr ac
rf -- rf rf rf rf rf rf rf rf fi rf rf rf tl fo cr rf
rs rs -- rs rs rs rs rs rs rs fi rs rs rs tl fo cr rs
st st st -- st st st st st st fi st st st tl fo cr st
pt pt pt pt -- pt pt pt pt pt fi pt pt pt tl fo cr pt
lo lo lo lo lo -- lo lo lo lo fi lo lo lo tl fo cr lo
de de de de de de -- de de de fi de de de tl fo cr de
li li li li li li li -- li li fi li li li tl fo cr L!
ur ur ur ur ur ur ur ur -- ur fi ur ur ur tl fo cr ur
si si si si si si si si si -- fi si si si tl fo cr si
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
