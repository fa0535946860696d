import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SeenConnection } from '../../contracts/world.js'

/** TCP connections that reached nginx's two cluster ports, from its logs and the kernel's table of open connections. */
export interface Arrivals {
  /** Since the last `forget()`; a connection that never sent a request has 0 of them. */
  list(): Promise<readonly SeenConnection[]>
  forget(): Promise<void>
}

interface Line {
  readonly connection: number
  readonly from: string
  readonly fromPort: number
  readonly port: number
}

interface Look {
  readonly requests: readonly Line[]
  /** Closed without a request: told by the error log alone. */
  readonly silent: readonly { readonly connection: number; readonly from: string; readonly port: number }[]
  /** Open now, as `address:port` of the client; the value is the port that it reached. */
  readonly open: ReadonlyMap<string, number>
}

/** `settle` returns when all that was answered before has been logged. */
export function watchArrivals(
  folder: string,
  ports: { readonly http: number; readonly https: number },
  settle: () => Promise<void>,
): Arrivals {
  let before: Look = { requests: [], silent: [], open: new Map() }

  async function look(): Promise<Look> {
    await settle()
    const open = await openConnections([ports.http, ports.https])
    const requests = parseAccessLog(await readLog(folder, 'access.log'))
    const heard = new Set(requests.map(line => line.connection))
    const silent = parseErrorLog(await readLog(folder, 'error.log')).filter(
      line => !heard.has(line.connection) && (line.port === ports.http || line.port === ports.https),
    )
    return { requests, silent, open }
  }

  return {
    async list() {
      const now = await look()
      const scheme = (port: number): 'http' | 'https' => (port === ports.https ? 'https' : 'http')
      const seen = new Map<number, { from: string; port: 'http' | 'https'; requests: number }>()
      for (const line of now.requests.slice(before.requests.length)) {
        const entry = seen.get(line.connection) ?? { from: line.from, port: scheme(line.port), requests: 0 }
        seen.set(line.connection, { ...entry, requests: entry.requests + 1 })
      }
      for (const line of now.silent) {
        if (before.silent.some(({ connection }) => connection === line.connection)) continue
        seen.set(line.connection, { from: line.from, port: scheme(line.port), requests: 0 })
      }
      const heard = new Set(now.requests.map(line => `${line.from}:${line.fromPort}`))
      const waiting = [...now.open].filter(([client]) => !heard.has(client) && !before.open.has(client))
      return [
        ...seen.values(),
        ...waiting.map(([client, port]) => ({
          from: client.slice(0, client.indexOf(':')),
          port: scheme(port),
          requests: 0,
        })),
      ]
    },
    async forget() {
      before = await look()
    },
  }
}

async function readLog(folder: string, name: string): Promise<string> {
  return readFile(join(folder, name), 'utf8')
}

function parseAccessLog(text: string): Line[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line) as Line)
}

// "… [info] 7#7: *12 client closed connection while waiting for request, client: 127.0.0.2, server: 127.0.0.1:21234"
function parseErrorLog(text: string): Look['silent'][number][] {
  const found = new Map<number, Look['silent'][number]>()
  for (const [, connection, from, port] of text.matchAll(/ \*(\d+) .*client: ([\d.]+), server: [\d.]+:(\d+)$/gm)) {
    found.set(Number(connection), { connection: Number(connection), from: String(from), port: Number(port) })
  }
  return [...found.values()]
}

/** Established connections to the ports, from Linux's /proc. */
async function openConnections(ports: readonly number[]): Promise<Map<string, number>> {
  const table = await readFile('/proc/net/tcp', 'utf8')
  const established = ['01', '08'] // and those that the client has closed, but nginx not yet
  const open = new Map<string, number>()
  for (const row of table.split('\n').slice(1)) {
    const [, local, remote, state] = row.trim().split(/\s+/)
    const port = Number.parseInt(local?.split(':')[1] ?? '', 16)
    if (remote && state && established.includes(state) && ports.includes(port)) open.set(address(remote), port)
  }
  return open
}

// "0200007F:8A3C" → "127.0.0.2:35388": both in hexadecimal, the address as a little-endian machine holds it.
function address(hex: string): string {
  const [ip = '', port = ''] = hex.split(':')
  return `${Buffer.from(ip, 'hex').toReversed().join('.')}:${Number.parseInt(port, 16)}`
}
