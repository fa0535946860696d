import type { Socket } from 'node:net'
import { type Arrival, reset } from '../listener.js'
import { connected, passHandshake } from './handshake.js'
import { type Refusal, refusalFor } from './refusal.js'
import type { Route } from './route.js'
import { resolveTarget } from './target.js'
import { joinTunnel } from './tunnel.js'

const version = 5
const usernamePassword = 2
const noMethod = 0xff

/** Reply codes, RFC 1928 section 6. */
const reply = {
  ok: 0,
  failed: 1,
  notAllowed: 2,
  hostUnreachable: 4,
  refused: 5,
  ttlExpired: 6,
  notConnect: 7,
  addressType: 8,
}

/** Serves SOCKS5 clients: CONNECT with username and password (RFC 1928, RFC 1929). */
export function serveSocks(route: Route): (socket: Socket, arrival: Arrival) => void {
  return (socket, arrival) => {
    serve(route, socket, arrival).catch(() => socket.destroy())
  }
}

async function serve(route: Route, client: Socket, arrival: Arrival): Promise<void> {
  const [greeting = 0, methods = 0] = await read(client, 2)
  if (greeting !== version) return void client.end(Buffer.from([version, noMethod]))
  if (!(await read(client, methods)).includes(usernamePassword)) {
    return void client.end(Buffer.from([version, noMethod]))
  }
  client.write(Buffer.from([version, usernamePassword]))

  const [, userLength = 0] = await read(client, 2)
  const username = (await read(client, userLength)).toString()
  const password = (await read(client, (await read(client, 1))[0] ?? 0)).toString()
  const isKnown = route.credentials.accept(username, password)
  if (!isKnown || route.faults.strike('login')) {
    route.refused(arrival, 'SOCKS5 login', { error: 'http_request_denied', isPlanted: isKnown })
    return void client.end(Buffer.from([1, 1]))
  }
  client.write(Buffer.from([1, 0]))

  const [, command, , addressType = 0] = await read(client, 4)
  const host = await readAddress(client, addressType)
  const refuse = (code: number): void => void client.end(replyBytes(code))
  if (host === undefined) return refuse(reply.addressType)
  const port = (await read(client, 2)).readUInt16BE()
  arrival.requests++
  arrival.target = `${host}:${port}`
  if (!(await passHandshake(route, arrival, client))) return
  if (command !== 1) return refuse(reply.notConnect)
  const target = resolveTarget(host, port)
  const note = ({ error }: Refusal): void => route.refused(arrival, `SOCKS5 CONNECT ${host}:${port}`, { error })
  if ('refused' in target) {
    note(refusalFor(target.refused))
    return refuse(target.refused === 'forbidden' ? reply.notAllowed : reply.hostUnreachable)
  }

  const upstream = route.connect(target.host, target.port, arrival.egress)
  if (!upstream) return reset(arrival)
  const onRefusal = (refusal: Refusal): void => {
    note(refusal)
    refuse(refusal.status === 504 ? reply.ttlExpired : reply.refused)
  }
  connected(upstream, route.connectTimeoutMs, onRefusal, () => {
    client.write(replyBytes(reply.ok))
    joinTunnel(client, upstream, arrival, route.faults, Buffer.alloc(0))
  })
  client.once('close', () => upstream.destroy())
}

async function readAddress(client: Socket, type: number): Promise<string | undefined> {
  if (type === 1) return [...(await read(client, 4))].join('.')
  if (type === 3) return (await read(client, (await read(client, 1))[0] ?? 0)).toString()
  if (type !== 4) return undefined
  const bytes = await read(client, 16)
  return Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(i * 2).toString(16)).join(':')
}

/** Reads exactly `size` bytes. Later bytes stay in the socket. Rejects if the client closes first. */
function read(socket: Socket, size: number): Promise<Buffer> {
  if (size === 0) return Promise.resolve(Buffer.alloc(0))
  return new Promise((resolve, reject) => {
    const take = (): void => {
      const bytes = socket.read(size) as Buffer | null
      if (bytes?.length === size) return done(() => resolve(bytes))
      if (bytes !== null || socket.readableEnded || socket.destroyed)
        done(() => reject(new Error('the client went away')))
    }
    const gone = (): void => done(() => reject(new Error('the client went away')))
    const done = (settle: () => void): void => {
      socket.off('readable', take)
      socket.off('end', gone)
      socket.off('close', gone)
      settle()
    }
    socket.on('readable', take)
    socket.once('end', gone)
    socket.once('close', gone)
    take()
  })
}

function replyBytes(code: number): Buffer {
  return Buffer.from([version, code, 0, 1, 0, 0, 0, 0, 0, 0])
}
