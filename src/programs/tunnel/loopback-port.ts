import type { AddressInfo, Server, Socket } from 'node:net'
import { Server as HttpServer } from 'node:http'
import { fail } from '../../base/failure/failure.js'

/** Others on the network must not reach the destination with the static addresses. So nothing else is ever listened on. */
const LOOPBACK = '127.0.0.1'

const MOST_CONNECTIONS = 256

/** A port of this machine that only programs of this machine reach. */
export interface LoopbackPort {
  readonly port: number
  /** Connections so far. */
  readonly accepted: number
  /** Accepts no more connections, and waits for the open ones. When `givenUp` aborts, breaks them off. */
  close(givenUp: AbortSignal): Promise<void>
}

/** Throws SluiceError OPTION_INVALID if the port cannot be used. `option` named it. */
export async function listenOnLoopback(server: Server, port: number, option: string): Promise<LoopbackPort> {
  const open = new Set<Socket>()
  let accepted = 0
  server.maxConnections = MOST_CONNECTIONS
  server.on('connection', (socket: Socket) => {
    accepted += 1
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, port, option)))
    server.listen(port, LOOPBACK, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    get accepted() {
      return accepted
    },
    async close(givenUp) {
      const breakOff = (): void => {
        for (const socket of open) socket.resetAndDestroy()
      }
      const closed = new Promise(resolve => server.close(resolve))
      if (server instanceof HttpServer) server.closeIdleConnections()
      if (givenUp.aborted) breakOff()
      givenUp.addEventListener('abort', breakOff)
      await closed
      givenUp.removeEventListener('abort', breakOff)
    },
  }
}

function cannotListen(error: NodeJS.ErrnoException, port: number, option: string) {
  const why =
    error.code === 'EADDRINUSE'
      ? 'is in use by another program. Stop it, or put another port before the target, as in 9201:cluster'
      : error.code === 'EACCES'
        ? 'is reserved for programs of the system. Put a port from 1024 to 65535 before the target'
        : `cannot be used (${error.code})`
  return fail('OPTION_INVALID', { option, problem: `port ${port} of this machine ${why}` }, { cause: error })
}
