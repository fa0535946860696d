/** Tunnels into the lab, and what they report. */
import { readFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { Failure } from '../../../src/base/failure/failure.js'
import { readDestination } from '../../../src/base/addresses.js'
import { openTunnel, type Tunnel, type TunnelOptions } from '../../../src/programs/tunnel/open-tunnel.js'
import { lab, way } from './shared-lab.js'

export interface WatchedTunnel extends Tunnel, AsyncDisposable {
  readonly refusals: readonly string[]
  readonly foreign: readonly string[]
  /** The URL of the first port. */
  readonly url: string
  /** The local proxy with its token. */
  readonly proxyUrl: string
}

export async function tunnelTo(
  names: readonly string[],
  more: Partial<Omit<TunnelOptions, 'connecting'>> & { readonly connecting?: object } = {},
): Promise<WatchedTunnel> {
  const refusals: string[] = []
  const foreign: string[] = []
  const onRefusal = (name: string, known: Failure) => {
    refusals.push(`${name} ${known.code}`)
    return known
  }
  const tunnel = await openTunnel({
    destinations: names.map(readDestination).filter(one => one !== undefined),
    ports: 'all',
    hasProxy: true,
    withLogin: false,
    idleMs: 600_000,
    onRefusal,
    onForeign: address => void foreign.push(address),
    ...more,
    connecting: { ...way(), ...more.connecting },
    instance: { ...way(), servicenow: servicenow(), ...more.instance },
  })
  const url = tunnel.opened.find(({ local }) => local !== undefined)?.local ?? ''
  const proxyUrl = `http://sluice:${tunnel.token}@${tunnel.proxy}`
  // A getter of the tunnel would be read once.
  const watched: Tunnel = Object.create(tunnel)
  return Object.assign(watched, {
    refusals,
    foreign,
    url,
    proxyUrl,
    [Symbol.asyncDispose]: async () => await tunnel.close(AbortSignal.abort()),
  })
}

export function servicenow() {
  const { url, username, password } = lab.line.servicenow
  return { url, username, password, ca: caText() }
}

export function caText(): string {
  return readFileSync(lab.line.cluster.caFile, 'utf8')
}

export function apiKey(): Record<string, string> {
  return { authorization: `ApiKey ${lab.line.cluster.apiKey}` }
}

/** A server of this machine that speaks no HTTP. */
export async function rawServer(onConnection: (socket: Socket) => void) {
  const open = new Set<Socket>()
  const server: Server = createServer({ allowHalfOpen: true }, socket => {
    open.add(socket)
    socket.on('error', () => undefined).once('close', () => open.delete(socket))
    onConnection(socket)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    open,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
