/**
 * Asks the same question on several fresh connections. A proxy with two addresses chooses one of them per connection: with only one
 * registered, a single request passes half the time.
 */
import type { Route } from './route.js'
import { setMaxListeners } from 'node:events'

/** A connection that breaks once among many is no finding. */
export const BROKEN_AGAIN = 2

/** The first wave is one connection, so that wrong credentials cost one refusal and not sixteen. */
export const FIRST_WAVES = [1, 6]

/** If one of two nodes worked, so many connections would all miss it one time in 65,000. */
export const SURE = 16

interface Waves<T> {
  /** Connections, those of `first` included. */
  readonly most: number
  /** How many connections there are after each wave but the last. Default: `FIRST_WAVES`. */
  readonly waves?: readonly number[]
  /** Answers from before. */
  readonly first?: readonly T[]
  /** Asks on one fresh connection. `number` counts from 0; `soFar` holds the answers of the waves before. */
  ask(number: number, soFar: readonly T[]): Promise<T>
  /** Whether more connections would show nothing new. */
  isSettled(answers: readonly T[]): boolean
}

/** Asks in waves until the answers settle the question or `most` connections were asked. */
export async function askInWaves<T>({ most, waves = FIRST_WAVES, first = [], ask, isSettled }: Waves<T>): Promise<T[]> {
  const total = Math.max(1, Math.floor(most))
  const answers = [...first]
  for (const end of [...waves, total]) {
    if (answers.length > 0 && isSettled(answers)) break
    const offset = answers.length
    const size = Math.max(0, Math.min(end, total) - offset)
    answers.push(...(await Promise.all(Array.from({ length: size }, async (_, at) => await ask(offset + at, answers)))))
  }
  return answers
}

/** Asks once, and again on another connection while `isBroken`. Returns the last answer and how many connections broke before. */
export async function askUnbroken<T>(
  ask: () => Promise<T>,
  isBroken: (answer: T) => boolean,
): Promise<{ readonly answer: T; readonly broken: number }> {
  for (let broken = 0; ; broken += 1) {
    const answer = await ask()
    if (broken >= BROKEN_AGAIN || !isBroken(answer)) return { answer, broken }
  }
}

export interface FreshAnswer {
  readonly verdict: 'allowed' | 'refused' | 'failed'
  /** Connections that broke before this answer. */
  readonly broken: number
}

/** Counts the verdicts of fresh connections. */
export function countVerdicts(answers: readonly FreshAnswer[], proxy: Route['proxy'] | object) {
  const count = (verdict: FreshAnswer['verdict']) => answers.filter(answer => answer.verdict === verdict).length
  return {
    probes: answers.length,
    allowed: count('allowed'),
    refused: count('refused'),
    broken: answers.reduce((sum, { broken }) => sum + broken, 0),
    missChance: missChance(proxy, answers.length),
  }
}

/** Returns the chance that `agreeing` connections all missed one of two addresses. Without a proxy there is only one address. */
export function missChance(proxy: Route['proxy'] | object, agreeing: number): number {
  return proxy === undefined ? 0 : 2 ** -agreeing
}

/**
 * Returns a signal that follows another and may have any number of listeners. Node warns about more than ten on one signal, and the
 * limit of the caller's own signal is the caller's to set.
 */
export function manyListeners(signal: AbortSignal): AbortSignal {
  const own = AbortSignal.any([signal])
  setMaxListeners(0, own)
  return own
}
