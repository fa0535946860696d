/** Reads where a tunnel leads: the cluster, the ServiceNow instance, or any host and port behind the proxy. */
import { isIPv6 } from 'node:net'
import { type Kind, Problem } from './kinds.js'
import * as check from './option-checks.js'

export interface TunnelEnd {
  readonly to: 'cluster' | 'servicenow' | { readonly host: string; readonly port: number }
  /** The port of this machine that leads there. 0: any free port. Absent: the user asked for none. */
  readonly local?: number
}

/** Reads `[PORT:]TARGET`, and lists of it with commas. */
export function destinations(): Kind<readonly string[]> {
  return {
    label: '[port:]target',
    check: check.strings,
    isRepeated: true,
    read: raw => {
      const given: readonly unknown[] = Array.isArray(raw) ? raw : [raw]
      const texts = given.flatMap(one => (typeof one === 'string' ? one.split(',') : [one]))
      const names = texts.map(text => (typeof text === 'string' ? text.trim() : ''))
      if (names.length === 0) return new Problem('names no target')
      const wrong = names.find(name => readDestination(name) === undefined)
      if (wrong === undefined) return names
      return new Problem(
        `contains '${wrong}', which is not cluster, servicenow or HOST:PORT, with a local port before it if needed (9200:cluster)`,
      )
    },
  }
}

/** Returns undefined if the text names no destination. */
export function readDestination(text: string): TunnelEnd | undefined {
  const [, local, name = ''] = /^(?:(\d{1,5}):)?(.+)$/.exec(text) ?? []
  const to = targetIn(name)
  if (to === undefined || !isPort(Number(local ?? 0))) return undefined
  return local === undefined ? { to } : { to, local: Number(local) }
}

function targetIn(name: string): TunnelEnd['to'] | undefined {
  if (name === 'cluster' || name === 'servicenow') return name
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([a-z0-9._-]+)):(\d{1,5})$/i.exec(name) ?? []
  const host = (bracketed ?? plain ?? '').toLowerCase()
  const port = Number(digits)
  if (port === 0 || !isPort(port)) return undefined
  // A number before the colon would be a local port without a target.
  const isHost = bracketed === undefined ? /[a-z.]/.test(host) : isIPv6(bracketed)
  return isHost ? { host, port } : undefined
}

function isPort(port: number): boolean {
  return port >= 0 && port <= 65_535
}
