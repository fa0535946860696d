/**
 * A sign of life that is seen from other containers of the same machine: a socket beside the lock. The system refuses whoever
 * knocks as soon as the process that listens is gone, whatever ended it.
 */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/** What a socket's path may have on every system. Longer ones are cut off without a word. */
const PATH_BYTES = 100

/** Undefined where the file system takes no sockets. */
export async function showSign(path: string): Promise<AsyncDisposable | undefined> {
  if (Buffer.byteLength(path) > PATH_BYTES) return undefined
  const server = createServer(socket => socket.destroy())
  try {
    server.listen(path)
    await once(server, 'listening')
  } catch {
    return undefined
  }
  // Nobody stays for it.
  server.unref()
  server.on('error', () => undefined)
  return {
    [Symbol.asyncDispose]: async () => {
      await new Promise<void>(resolve => server.close(() => resolve()))
    },
  }
}

/** Whether it is certain that nobody listens any more. */
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
