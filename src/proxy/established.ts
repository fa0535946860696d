import type { Socket } from 'node:net'

/** Resolves when a socket has connected or finished its TLS handshake. Rejects if it failed or closed before. */
export function established(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    // Stays: an error that comes when nobody waits any more must not end the process.
    socket.on('error', reject)
    const onClose = (): void => {
      reject(Object.assign(new Error('the other side closed the connection'), { code: 'ECONNRESET' }))
    }
    socket.once('close', onClose)
    socket.once(event, () => {
      socket.off('close', onClose)
      resolve()
    })
  })
}
