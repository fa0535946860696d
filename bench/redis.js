import { spawn } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { program } from '../scripts/real/parts.js'
import { ending, freePort, reachable } from './other-servers.js'

/** Starts a Redis that keeps what it is given, as a queue needs it. */
export async function startRedis(home) {
  const command = program('redis-server')
  if (command === undefined) throw new Error('redis-server is missing (Debian: redis-server)')
  const port = await freePort()
  rmSync(home, { recursive: true, force: true })
  mkdirSync(home, { recursive: true })
  const settings = { port, bind: '127.0.0.1', dir: home, appendonly: 'yes', 'maxmemory-policy': 'noeviction', save: '' }
  const words = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child = spawn(command, words, { stdio: 'ignore' })
  await reachable(port)
  return { url: `redis://127.0.0.1:${port}`, ...ending(child) }
}
