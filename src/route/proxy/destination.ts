import type { ProxyUrl } from './proxy-url.js'

/** The target, and the facts about the route to it that every message names. */
export interface RouteTarget {
  readonly target: URL
  readonly proxy?: ProxyUrl | undefined
  /** Time that a connection may take to be built, all layers of it. */
  readonly connectTimeoutMs: number
}

export function proxyOf(way: RouteTarget): string {
  return way.proxy?.display ?? '(none)'
}
