import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Free ports on 127.0.0.1 for programs that cannot choose their own, below the range from which the kernel takes the ports
 * of outgoing connections. Another program may still take one first: hence `onFreePorts`.
 */
async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = randomInt(20_000, 32_000)
    if (await isFree(port)) ports.add(port)
  }
  return [...ports]
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}

/** Starts a server on ports that are free, with other ports when that fails. `start` cleans up after its own failure. */
export async function onFreePorts<T>(count: number, start: (ports: number[]) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await freePorts(count))
    } catch (error) {
      if (attempt === 3) throw error
    }
  }
}
