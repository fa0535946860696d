import type { ProxyUrl } from './proxy-url.js'

/** The target, and the facts about the route to it that every message names. */
export interface RouteTarget {
  readonly target: URL
  readonly proxy?: ProxyUrl | undefined
  /** Time that a connection may take to be built, all layers of it. */
  readonly connectTimeoutMs: number
}

/** Host without brackets, and the port in effect. */
export function addressOf(url: URL): { host: string; port: number } {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port }
}

/** host:port as CONNECT wants it, an IPv6 host in brackets. */
export function authorityOf(url: URL): string {
  return `${url.hostname}:${addressOf(url).port}`
}

export function proxyOf(way: RouteTarget): string {
  return way.proxy?.display ?? '(none)'
}
