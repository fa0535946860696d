import { readFileSync } from 'node:fs'
import type { ConnectOptions } from '../../src/index.js'
import type { World } from './world.js'

export const proxyKinds = ['http', 'https', 'socks5', 'socks5s'] as const
export const clusterSchemes = ['https', 'http'] as const

/** Which proxy, and which scheme of the cluster. */
export type Pair = readonly [kind: (typeof proxyKinds)[number], scheme: (typeof clusterSchemes)[number]]
export const allPairs: readonly Pair[] = proxyKinds.flatMap(kind =>
  clusterSchemes.map(scheme => [kind, scheme] as const),
)
/** Each kind of proxy, and both schemes behind proxies with TLS and without. */
export const eachProxy: readonly Pair[] = [
  ['http', 'https'],
  ['https', 'http'],
  ['socks5', 'http'],
  ['socks5s', 'https'],
]
/** What most users have, for a run in which the other pairs would prove little more. */
export const usualPair: readonly Pair[] = [['http', 'https']]

/** Options for a world, by proxy and by scheme of the cluster. */
export function through(world: World, proxy: string, scheme: 'http' | 'https' = 'https') {
  return {
    target: {
      url: scheme === 'https' ? world.cluster.url : world.cluster.httpUrl,
      apiKey: world.cluster.apiKey,
      ca: readFileSync(world.cluster.caFile),
    },
    proxy: { url: proxy, ca: readFileSync(world.proxyCaFile) },
    deadLetters: false,
  } satisfies ConnectOptions & { deadLetters: false }
}

/**
 * The same with two test connections before a load instead of 16. These are most of the work of a small load, and only the suites of routes
 * and refusals look at them.
 */
export function loadThrough(world: World, proxy: string, scheme: 'http' | 'https' = 'https') {
  return { ...through(world, proxy, scheme), preflightConnections: 2 }
}

let names = 0

/** A name of its own for each test: the worlds are shared. */
export function newIndex(prefix = 'contract'): string {
  names += 1
  return `${prefix}-${process.pid}-${Date.now().toString(36)}-${names}`
}

/** As many documents, each with its number. */
export function documents(count: number): Iterable<{ n: number; message: string }> {
  return {
    *[Symbol.iterator]() {
      for (let n = 1; n <= count; n += 1) yield { n, message: `document ${n} of the contract` }
    },
  }
}

/** The failure of a run that has to stop. */
export async function failureOf(
  run: Promise<unknown>,
): Promise<{ code: string; evidence: Record<string, unknown>; receipt?: unknown }> {
  try {
    await run
  } catch (error) {
    const { failure, receipt } = error as {
      failure?: { code: string; evidence: Record<string, unknown> }
      receipt?: unknown
    }
    if (failure === undefined) throw error
    return { ...failure, receipt }
  }
  throw new Error('the run did not fail')
}
