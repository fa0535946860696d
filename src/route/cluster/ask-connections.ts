/**
 * Asks the same question on fresh connections until their ends show what is wrong, if anything is. Connections of one wave are open
 * side by side. If some fail, Sluice opens others one at a time: so a limit differs from a node that is down.
 */
import type { Clock } from '../../base/flow.js'
import { askInWaves, FIRST_WAVES, SURE } from '../proxy/fresh-connections.js'
import { backoffMs } from '../../base/time/retry.js'
import type { Failure } from '../../base/failure/failure.js'
import { connectionEnd, type End, type Ended, isByChance, ways } from './connection-end.js'
import { type Mix, type Named, nameMix } from './connection-mix.js'

/** If a limit refuses so many connections, more would only add to it. */
const LIMITED = FIRST_WAVES.at(-1) ?? 1
/** Most connections one at a time. */
const ALONE = 14
/** Attempts one at a time while the first connection meets a limit, or a cluster that is not well. */
const FIRST_ATTEMPTS = 4
const ATTEMPTS_DIRECT = 3
/** Greetings of a proxy. If one of two nodes said nothing, all of them would miss it one time in 65,000. */
const GREETINGS = SURE

/** Returns the most connections that can be needed, greetings included, if `most` have to agree. */
export function mostConnections(most: number): number {
  return 2 * Math.max(most, SURE) + FIRST_ATTEMPTS - 1 + ALONE + GREETINGS
}

export interface ConnectionsToAsk<T extends Ended> {
  /** Connections that have to agree. */
  readonly most: number
  /** Asks on one fresh connection. `number` counts from 0. `soFar` holds the ends of the connections before. */
  ask(number: number, soFar: readonly T[]): Promise<T>
  /** Continue after the IP filter refused some, to know their share. */
  readonly isWhole?: true
  /** Returns whether the proxy answers a greeting on a fresh connection. Absent: there is no proxy. */
  greet?: (() => Promise<boolean>) | undefined
  /** Longest wait before a connection, whatever an answer asks for. */
  readonly longestWaitMs: number
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
}

/** Returns how the connections ended, and names what is wrong with them. */
export async function askForMix<T extends Ended>(
  asking: ConnectionsToAsk<T>,
  mix: Omit<Mix, 'ends'>,
): Promise<{ readonly ends: readonly T[]; readonly named: Named }> {
  const ends = await askConnections(asking)
  return { ends, named: nameMix({ ...mix, ends }) }
}

/** While one of two nodes or addresses fails, so many attempts in a row fail less than once in a hundred times. */
const ATTEMPTS_OVER_HALF = 7

/** Returns how often in a row to try a connection over a proxy with this problem. */
export function attemptsOver(problem: Failure['code'] | undefined): number {
  return problem === 'PROXY_NODE_FAILS' || problem === 'CLUSTER_UNAVAILABLE' ? ATTEMPTS_OVER_HALF : 1
}

const cameBack: ReadonlySet<End> = new Set(['refused', 'reset', 'limited', 'unreached', 'busy', 'unwell'])

/**
 * Returns whether the target may be reached in a while without any change, as after a restart. A name that does not resolve, and a
 * connection that gets no answer, are more often a wrong host, a wrong port or a firewall.
 */
export function mayComeBack(failed: Failure): boolean {
  if (/ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|resolve|DNS/.test(failed.message)) return false
  return cameBack.has(connectionEnd(failed))
}

/** Returns whether another connection may not fail so: over the other node, or from the other address. */
export function mayBeOneOfMany(failed: Failure, proxy: object | string | undefined): boolean {
  const end = connectionEnd(failed)
  return proxy === undefined ? ways[end].passes === true && end === 'unwell' : ways[end].by !== 'everybody'
}

/** Returns how the connections ended. */
export async function askConnections<T extends Ended>(given: ConnectionsToAsk<T>): Promise<readonly T[]> {
  const asking = { ...given, ask: timed(given) }
  const isSettled = (ends: readonly Ended[]) => isDecided(ends, asking)
  const first = await askFirst(asking)
  // Sluice waited between the first, so those that failed may not count.
  const isWaited = first.at(-1)?.end === 'accepted'
  const most = mostOf(asking, first) + (isWaited ? first.length - 1 : 0)
  // The others do not wait for each other, unless they might all meet one limit.
  const waves = ways[first.at(-1)?.end ?? 'accepted'].by === 'limit' ? [LIMITED] : []
  const wave = await askInWaves<T>({ ...asking, most, waves, first, isSettled })
  const ends = await askMore(asking, wave)
  const bad = ends.filter(({ end }) => end !== 'accepted').length
  const isRefused = ends.some(({ end }) => end === 'filtered')
  if (bad === 0 || bad === ends.length || isRefused || isSettled(ends)) return ends
  if (isByChance(bad, ends.length) && hasPassed(ends)) return ends
  return await findSilentNode(asking, await askAlone(asking, ends, isByChance(bad, ends.length) ? 1 : ALONE))
}

/** Asks as often again if so few failed, or so few did not, that half of them might by chance. */
async function askMore<T extends Ended>(asking: ConnectionsToAsk<T>, ends: readonly T[]): Promise<readonly T[]> {
  const good = ends.filter(({ end }) => end === 'accepted').length
  const fewer = Math.min(good, ends.length - good)
  const isDoubtful = fewer > 0 && fewer < ends.length / 4
  if (!isDoubtful || asking.greet === undefined || isDecided(ends, asking)) return ends
  if (ends.some(({ end }) => ways[end].by === 'limit' || end === 'filtered')) return ends
  const most = ends.length + Math.max(ends.length, SURE)
  return await askInWaves<T>({ ...asking, most, waves: [], first: ends, isSettled: () => false })
}

function timed<T extends Ended>({ ask, clock }: ConnectionsToAsk<T>): ConnectionsToAsk<T>['ask'] {
  return async (number, soFar) => {
    const from = clock.now()
    return { ...(await ask(number, soFar)), tookMs: clock.now() - from }
  }
}

/** One that fails needs others beside it, however few were asked for. Without a proxy they all leave from one address. */
function mostOf({ most, greet }: ConnectionsToAsk<Ended>, first: readonly Ended[]): number {
  const { end = 'accepted' } = first.at(-1) ?? {}
  if (end === 'accepted') return most
  if (greet !== undefined) return Math.max(most, SURE)
  return ways[end].passes === true ? Math.max(most, ATTEMPTS_DIRECT) : most
}

async function askFirst<T extends Ended>(asking: ConnectionsToAsk<T>): Promise<T[]> {
  const ends: T[] = []
  do ends.push(await askOne(asking, ends))
  while (ends.length < FIRST_ATTEMPTS && isWaitedFor(ends.at(-1)))
  return ends
}

function isWaitedFor(ended: Ended | undefined): boolean {
  const { by } = ways[ended?.end ?? 'accepted']
  return by === 'limit' || by === 'cluster'
}

/** Ends with the first that fails: then their number is not the cause. */
async function askAlone<T extends Ended>(
  asking: ConnectionsToAsk<T>,
  before: readonly T[],
  most: number,
): Promise<T[]> {
  const ends = [...before]
  for (let asked = 0; asked < most; asked += 1) {
    const ended = await askOne(asking, ends)
    ends.push(ended)
    if (ended.end !== 'accepted') break
  }
  return ends
}

async function askOne<T extends Ended>(asking: ConnectionsToAsk<T>, before: readonly T[]): Promise<T> {
  const { clock, signal, longestWaitMs } = asking
  const refused = before.filter(isWaitedFor)
  if (refused.length > 0 && !hasPassed(before)) {
    const afterMs = backoffMs(Math.min(refused.length, FIRST_ATTEMPTS), Math.random, refused.at(-1)?.retryAfterMs)
    await clock.sleep(Math.min(longestWaitMs, afterMs), signal)
  }
  return { ...(await asking.ask(before.length, before)), isAlone: true }
}

/** Returns whether a connection without others beside it was accepted after the last failure. */
function hasPassed(ends: readonly Ended[]): boolean {
  const lastBad = ends.findLastIndex(({ end }) => end !== 'accepted')
  return ends.slice(lastBad + 1).some(({ isAlone }) => isAlone === true)
}

/** A node that says nothing looks like a target that drops an address. But it does not answer a greeting either. */
async function findSilentNode<T extends Ended>(
  { greet }: ConnectionsToAsk<T>,
  ends: readonly T[],
): Promise<readonly T[]> {
  const isSilent = ends.filter(({ end }) => end === 'silent').length > 1
  if (!isSilent || greet === undefined) return ends
  const greeted = await Promise.all(Array.from({ length: GREETINGS }, greet))
  if (greeted.every(Boolean)) return ends
  return ends.map(one => (one.end === 'silent' ? { ...one, end: 'stuck' } : one))
}

/** More connections would show nothing new. */
function isDecided(ends: readonly Ended[], { isWhole }: Pick<ConnectionsToAsk<Ended>, 'isWhole'>): boolean {
  const isIn = ends.some(({ end, isPastFilter }) => end === 'accepted' || isPastFilter === true)
  const isRefused = ends.some(({ end }) => end === 'filtered')
  if (isRefused) return isIn && isWhole !== true
  if (ends.some(({ end }) => ways[end].by === 'everybody' && end !== 'accepted')) return true
  return ends.length >= LIMITED && ends.every(({ end }) => ways[end].by === 'limit')
}
