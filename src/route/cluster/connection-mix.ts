/**
 * Names what is wrong from how many fresh connections ended, and in which way. The proxy chooses a node and an address for each
 * connection, so a fault of one of them shows in some connections only. Pure.
 */
import { type Failure, failure } from '../../base/failure/failure.js'
import { type End, type Ended, isByChance, ways } from './connection-end.js'

export interface Mix {
  readonly ends: readonly Ended[]
  /** The cluster's URL without credentials, and the proxy's, if there is one. */
  readonly cluster: string
  readonly proxy?: string | undefined
  /** The proxy reads the requests itself. Then a load cannot leave out a node that refuses them. */
  readonly isForwarded?: boolean | undefined
}

export interface Named {
  /** Why a load cannot begin. Absent: enough connections work. */
  readonly failure?: Failure
  /** A problem that does not stop a load. */
  readonly warning?: Failure
  /** Connections that broke by chance, in a sentence. */
  readonly note?: string
}

/** With one of two nodes at work, fewer connections than this share work once in four thousand times. */
const HALF_AT_LEAST = 1 / 8
/** If this number of connections works one at a time, only their number was too large. */
const ALONE_AT_LEAST = 4

export function nameMix(mix: Mix): Named {
  const { ends } = mix
  const good = ends.filter(({ end }) => end === 'accepted')
  const bad = ends.filter(({ end }) => end !== 'accepted')
  const stop = (found: Failure): Named => ({ failure: found })
  if (bad.length === 0) return {}
  const partly = namePartly(mix)
  if (partly !== undefined) return stop(partly)
  const final = bad.filter(({ end }) => ways[end].by === 'everybody' || (good.length > 0 && end === 'barred'))
  if (final.length > 0) return stop(counted(final, ends))
  if (good.length === 0) return stop(nameClosed(mix))
  if (isByChance(bad.length, ends.length)) return { note: tellChance(bad, ends) }
  const limit = nameLimit(mix, good, bad)
  if (limit !== undefined) return { warning: limit }
  if (good.length < ends.length * HALF_AT_LEAST) return stop(counted(bad, ends))
  return nameHalf(mix, bad)
}

/** The filter refuses one address, and the cluster answered the other: whatever else happened, a person has to change that. */
function namePartly({ ends, cluster, proxy }: Mix): Failure | undefined {
  const past = ends.filter(({ end, isPastFilter }) => end === 'accepted' || isPastFilter === true)
  const barred = ends.filter(({ end }) => end === 'barred')
  // A gateway's 403 has many reasons. An address is the likely one if about half of the connections get it.
  const isHalf = [past, barred].every(some => !isByChance(some.length, ends.length)) && proxy !== undefined
  const refused = [...ends.filter(({ end }) => end === 'filtered'), ...(isHalf ? barred : [])]
  const [first] = refused
  if (past.length === 0 || first === undefined) return undefined
  const counts = { cluster, how: 'refused', refused: refused.length, probes: ends.length }
  return failure('EGRESS_PARTLY_ALLOWED', { ...first.failure?.evidence, ...counts })
}

/** Chooses the cause if no connection works. Causes that a person must remove come before those that may pass. */
function nameClosed({ ends, cluster }: Mix): Failure {
  const filtered = ends.filter(({ end }) => end === 'filtered')
  const [first] = filtered
  if (first !== undefined) {
    const counts = { cluster, refused: filtered.length, probes: ends.length }
    return failure('EGRESS_NOT_ALLOWED', { observed: 'it refuses connections', ...first.failure?.evidence, ...counts })
  }
  const often = ends.filter(({ end }) => !isByChance(ends.filter(one => one.end === end).length, ends.length))
  const toChange = often.filter(({ end }) => ways[end].passes !== true)
  return counted(toChange.length > 0 ? toChange : often.length > 0 ? often : ends, ends)
}

/** Names the limit if only the number of connections was too large: they work one at a time, or an answer says so. */
function nameLimit({ cluster, proxy }: Mix, good: readonly Ended[], bad: readonly Ended[]): Failure | undefined {
  const alone = [...good, ...bad].filter(({ isAlone }) => isAlone)
  const isByNumber = alone.length >= ALONE_AT_LEAST && alone.every(({ end }) => end === 'accepted')
  const said = bad.filter(({ end }) => ways[end].by === 'limit')
  if (!isByNumber && said.length < bad.length) return undefined
  const counts = { refused: bad.length, probes: good.length + bad.length, accepted: good.length }
  const [first] = said.length > 0 ? said : bad
  const observed = first?.failure?.message ?? ''
  const atProxy = proxy !== undefined && (first?.failure?.code.startsWith('PROXY_') ?? false)
  return atProxy
    ? failure('PROXY_LIMIT_REACHED', { proxy, observed, ...counts })
    : failure('GATEWAY_LIMITED', { cluster, observed, ...counts })
}

/** About half of the connections work: one of two nodes, or one of two addresses. */
function nameHalf({ ends, cluster, proxy, isForwarded }: Mix, bad: readonly Ended[]): Named {
  const dropped = bad.filter(({ end }) => end === 'silent')
  if (!isByChance(dropped.length, ends.length) && proxy !== undefined && !isSlow(ends)) {
    const { failure: seen } = dropped[0] ?? {}
    const counts = { cluster, how: 'silently dropped', refused: dropped.length, probes: ends.length }
    return { failure: failure('EGRESS_PARTLY_ALLOWED', { ...seen?.evidence, ...counts }) }
  }
  const ofNode = bad.filter(({ end }) => ways[end].by === 'node')
  if (proxy === undefined) return { warning: counted(bad, ends) }
  if (ofNode.length * 2 < bad.length) return { warning: tellAddress(counted(bad, ends)) }
  if (isForwarded === true && ofNode.some(({ end }) => ways[end].passes !== true))
    return { failure: counted(ofNode, ends) }
  const node = mostFrequent(ofNode)
  const counts = { failed: ofNode.length, probes: ends.length }
  return { warning: failure('PROXY_NODE_FAILS', { proxy, problem: node.message, ...counts }) }
}

/** Says what else may break half of the connections to a cluster that is well. A status is an answer, whatever the address. */
function tellAddress(found: Failure): Failure {
  if (found.code !== 'CLUSTER_UNAVAILABLE' || found.evidence['status'] !== undefined) return found
  return {
    ...found,
    message: `${found.message}. A firewall before the cluster may block one of the two addresses of the proxy`,
  }
}

/** If every connection takes long, a connection that takes too long was not dropped. */
function isSlow(ends: readonly Ended[]): boolean {
  const took = (isGood: boolean) =>
    ends.filter(({ end }) => (isGood ? end === 'accepted' : end === 'silent')).map(({ tookMs = 0 }) => tookMs)
  return Math.max(...took(true)) * 3 > Math.min(...took(false))
}

/** Returns the failure of the most frequent end, the farthest along the path among equals. */
function mostFrequent(some: readonly Ended[]): Failure {
  const count = (end: End) => some.filter(one => one.end === end).length
  const most = (Object.keys(ways) as End[]).reduce((best, end) => (count(end) >= count(best) ? end : best))
  const found = some.find(({ end }) => end === most)?.failure
  if (found === undefined) throw new Error('named the cause of no connection')
  return found
}

/** Adds to the failure how many connections ended so, unless all did. */
function counted(some: readonly Ended[], all: readonly Ended[]): Failure {
  const found = mostFrequent(some)
  const failed = some.filter(one => one.failure?.code === found.code).length
  if (failed === all.length) return found
  const message = `${found.message.replace(/\.$/, '')} (${failed} of ${all.length} connections)`
  return { ...found, message, evidence: { ...found.evidence, failed, probes: all.length } }
}

function tellChance(bad: readonly Ended[], ends: readonly Ended[]): string {
  const why = [...new Set(bad.map(one => one.failure?.message ?? ''))].join(', ')
  return `${bad.length} of ${ends.length} connections failed, and others after them did not: ${why}`
}
