/**
 * Asks the same question on fresh connections until their ends show what is wrong, if anything is. Connections of one wave are open
 * side by side. If some fail, Sluice opens others one at a time: so a limit differs from a node that is down.
 */
import type { Clock } from '../../base/flow.js'
import { askInWaves, FIRST_WAVES } from '../proxy/fresh-connections.js'
import { backoffMs } from '../../base/time/retry.js'
import type { Failure } from '../../base/failure/failure.js'
import { connectionEnd, type Ended, isByChance, ways } from './connection-end.js'
import { type Mix, type Named, nameMix } from './connection-mix.js'

/** If this number of connections all fail, Sluice opens no more: if one of two nodes worked, they would all miss it one time in 64. */
export const ENOUGH = FIRST_WAVES.at(-1) ?? 1
/** Most connections one at a time. */
const ALONE = 6
/** Attempts one at a time while the first connection meets a limit, or a cluster that is not well. */
const FIRST_ATTEMPTS = 4
const ATTEMPTS_DIRECT = 3
/** Greetings of a proxy. If one of two nodes said nothing, all of them would miss it one time in 250. */
const GREETINGS = 8

/** Returns the most connections that can be needed, greetings included, if `most` have to agree. */
export function mostConnections(most: number): number {
  return Math.max(most, ENOUGH) + FIRST_ATTEMPTS - 1 + ALONE + GREETINGS
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

/** Returns whether another connection may not fail so: over the other node, or from the other address. */
export function mayBeOneOfMany(failed: Failure, proxy: object | undefined): boolean {
  const end = connectionEnd(failed)
  return proxy === undefined ? ways[end].passes === true && end === 'unwell' : ways[end].by !== 'everybody'
}

/** Returns how the connections ended. */
export async function askConnections<T extends Ended>(given: ConnectionsToAsk<T>): Promise<readonly T[]> {
  const asking = { ...given, ask: timed(given) }
  const isSettled = (ends: readonly Ended[]) => isDecided(ends, asking)
  const first = await askFirst(asking)
  const most = mostOf(asking, first) + first.length - 1
  // If the first was accepted, few loads are refused. So the others do not wait for each other.
  const waves = first.at(-1)?.end === 'accepted' ? [] : FIRST_WAVES
  const ends = await askInWaves<T>({
    ...asking,
    most,
    waves,
    first,
    isSettled: soFar => isSettled(soFar) || isSilent(soFar),
  })
  const bad = ends.filter(({ end }) => end !== 'accepted').length
  const isRefused = ends.some(({ end }) => end === 'filtered')
  if (bad === 0 || bad === ends.length || isRefused || isSettled(ends)) return ends
  if (isByChance(bad, ends.length) && hasPassed(ends)) return ends
  return await findSilentNode(asking, await askAlone(asking, ends, isByChance(bad, ends.length) ? 1 : ALONE))
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
  if (greet !== undefined) return Math.max(most, ENOUGH)
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

/** More silent connections would only cost time. */
function isSilent(ends: readonly Ended[]): boolean {
  const silent = ends.filter(({ end }) => end === 'silent').length
  return ends.length >= ENOUGH && !isByChance(silent, ends.length)
}

/** More connections would show nothing new. */
function isDecided(ends: readonly Ended[], { isWhole }: Pick<ConnectionsToAsk<Ended>, 'isWhole'>): boolean {
  const isIn = ends.some(({ end, isPastFilter }) => end === 'accepted' || isPastFilter === true)
  const isRefused = ends.some(({ end }) => end === 'filtered')
  if (isRefused) return isIn && isWhole !== true
  if (ends.some(({ end }) => ways[end].by === 'everybody' && end !== 'accepted')) return true
  return ends.length >= ENOUGH && ends.every(({ end }) => end !== 'accepted')
}
