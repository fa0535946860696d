/** Stands where the static-IP proxy stands, and decides for each connection how it ends. */
import { type Socket, connect } from 'node:net'
import type { End } from '../../src/route/cluster/connection-end.js'
import { type Listener, listen } from '../diagnosis/listeners.js'

export interface Front extends Listener {
  /** The world's proxy URL, with the port of this front. */
  readonly url: string
}

/** Ends that a front cannot play for a single connection: the port is there or not, and speaks TLS or not. */
export type PlayedEnd = Exclude<End, 'refused' | 'proxyTls'>

export interface FrontOptions {
  /** URLs of the nodes. The IP filter allows the first, and refuses the second. */
  readonly nodes: readonly [string, string]
  /** Servers that answer in place of the cluster. */
  readonly ports: Readonly<Record<Beyond, number>>
  /** How the connections end, one after another, and from the first again after the last. Default: all are accepted. */
  readonly ends?: readonly PlayedEnd[]
  /** Chooses how a connection ends, in place of `ends`. */
  readonly choose?: () => PlayedEnd
  /** Most open connections. One more ends in the other way. */
  readonly most?: { readonly open: number; readonly beyond: 'reset' | 'limited' }
}

export type Beyond = 'barred' | 'busy' | 'unwell' | 'tls' | 'foreign' | 'credentials'

const answers: Partial<Readonly<Record<PlayedEnd, string>>> = {
  login: '407 Proxy Authentication Required',
  denied: '403 Forbidden',
  limited: '429 Too Many Requests',
  unreached: '503 Service Unavailable',
}

export async function startFront({ nodes, ports, ends = ['accepted'], choose, most }: FrontOptions): Promise<Front> {
  let turn = 0
  let open = 0
  const meet = (client: Socket): void => {
    const isOneTooMany = open >= (most?.open ?? Infinity)
    open += 1
    let isOver = false
    const leave = () => {
      if (!isOver) open -= 1
      isOver = true
    }
    client.once('end', leave).once('close', leave)
    if (client.closed) leave()
    const end = isOneTooMany ? most?.beyond : (choose?.() ?? ends[turn++ % ends.length])
    play(client, end ?? 'accepted', { nodes, ports })
  }
  // Sluice closes some connections before it opens another one: their ends are read first, however slow the machine is.
  const front = await listen(client => void setImmediate(() => setImmediate(() => meet(client))))
  const url = new URL(nodes[0])
  url.port = String(front.port)
  return Object.assign(front, { url: url.href.replace(/\/$/, '') })
}

function play(client: Socket, end: PlayedEnd, { nodes, ports }: Pick<FrontOptions, 'nodes' | 'ports'>): void {
  if (end === 'reset') return void client.resetAndDestroy()
  if (end === 'stuck') return
  if (end === 'accepted' || end === 'filtered') {
    return join(client, Number(new URL(nodes[end === 'accepted' ? 0 : 1]).port))
  }
  const answer = answers[end]
  client.once('data', (head: Buffer) => {
    // A greeting is no CONNECT: every proxy refuses it by itself.
    if (!head.toString('latin1').startsWith('CONNECT ')) return void client.end(refusal('400 Bad Request'))
    if (answer !== undefined) return void client.end(refusal(answer))
    if (end === 'silent') return
    client.pause()
    client.write('HTTP/1.1 200 OK\r\n\r\n')
    join(client, ports[end as Beyond])
  })
}

function refusal(status: string): string {
  return `HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`
}

function join(client: Socket, port: number): void {
  const server = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.pipe(to)
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroySoon())
  }
}
