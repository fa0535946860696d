import { mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { once } from 'node:events'
import { onFreePorts } from './ports.js'
import { type RunningProcess, startProcess, untilReady } from './process.js'

/** A queue server that can be killed and started again, with what it kept on its disk. */
export interface QueueServer extends AsyncDisposable {
  readonly url: string
  /** Ends by SIGKILL. */
  kill(): Promise<void>
  start(): Promise<void>
}

/** Redis with an append-only file that is synced every second. `more`: more of its settings. */
export async function startRedis(redis: string, folder: string, more: readonly string[] = []): Promise<QueueServer> {
  await mkdir(folder, { recursive: true })
  return await onFreePorts(1, async ([port = 0]) => {
    const settings = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', '', '--dir', folder, ...more]
    const args = ['--port', String(port), '--bind', '127.0.0.1', ...settings]
    let server: RunningProcess | undefined
    const start = async () => {
      server = await startProcess({ command: redis, args, folder })
      await untilReady('Redis', server, async () => await answersPing(port))
    }
    const kill = async () => await server?.[Symbol.asyncDispose]()
    await start().catch(async (error: unknown) => {
      await kill()
      throw error
    })
    return { url: `redis://127.0.0.1:${port}`, kill, start, [Symbol.asyncDispose]: kill }
  })
}

async function answersPing(port: number): Promise<true | undefined> {
  const socket = connect(port, '127.0.0.1')
  try {
    socket.write('PING\r\n')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    // One that asks for a password is ready, too.
    return /^(\+PONG|-NOAUTH)/.test(answer.toString()) ? true : undefined
  } finally {
    socket.destroy()
  }
}
