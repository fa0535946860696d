/** Starts servers that others wrote: they are told their port, and say nothing. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

export async function reachable(port) {
  for (let tries = 0; tries < 200; tries += 1) {
    const isUp = await fetch(`http://127.0.0.1:${port}`).then(
      () => true,
      error => error.cause?.code !== 'ECONNREFUSED',
    )
    if (isUp) return
    await after(50)
  }
  throw new Error(`nothing answers on port ${port}`)
}

export function ending(child) {
  return {
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}
