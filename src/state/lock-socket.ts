/**
 * Shows other containers of the same machine that the holder of a lock is alive: the holder listens on a socket
 * beside the lock. As soon as the process is gone, for whatever reason, the system refuses connections.
 */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** The longest path of a socket that every system takes. Some systems cut off longer paths without an error. */
const PATH_BYTES = 100

/** Listens until disposed. Returns undefined if the file system takes no sockets. */
export async function listenOnSocket(path: string): Promise<AsyncDisposable | undefined> {
  if (Buffer.byteLength(path) > PATH_BYTES) return undefined
  const server = createServer(socket => socket.destroy())
  try {
    server.listen(path)
    await once(server, 'listening')
  } catch {
    return undefined
  }
  // The socket does not keep the process alive.
  server.unref()
  server.on('error', () => undefined)
  return {
    [Symbol.asyncDispose]: async () => {
      await new Promise<void>(resolve => server.close(() => resolve()))
    },
  }
}

/** Returns whether the socket certainly has no listener any more. */
export async function isDeserted(path: string): Promise<boolean> {
  if (Buffer.byteLength(path) > PATH_BYTES) return false
  return await new Promise(resolve => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'))
  })
}
