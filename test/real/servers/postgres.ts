import { execFile } from 'node:child_process'
import { chown, mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onFreePorts } from './ports.js'
import { type RunningProcess, startProcess, untilReady } from './process.js'
import type { QueueServer } from './redis.js'

const run = promisify(execFile)

/** PostgreSQL with one database, for its user `sluice`. It refuses to run as root. */
export async function startPostgres(programs: string, folder: string): Promise<QueueServer> {
  await mkdir(folder, { recursive: true })
  const account = process.getuid?.() === 0 ? await accountOf('postgres') : undefined
  if (account !== undefined) await chown(folder, account.uid, account.gid)
  const data = join(folder, 'data')
  await run(join(programs, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'sluice', '--no-sync'], {
    cwd: folder,
    ...account,
  })
  return await onFreePorts(1, async ([port = 0]) => {
    const args = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder, '-c', 'max_connections=300']
    let server: RunningProcess | undefined
    const start = async () => {
      server = await startProcess({
        command: join(programs, 'postgres'),
        args,
        folder,
        ...(account === undefined ? {} : { account }),
      })
      await untilReady('PostgreSQL', server, async () => await isReady(port))
    }
    const kill = async () => await server?.[Symbol.asyncDispose]()
    await start().catch(async (error: unknown) => {
      await kill()
      throw error
    })
    return { url: `postgres://sluice@127.0.0.1:${port}/postgres`, kill, start, [Symbol.asyncDispose]: kill }
  })
}

/** Begins a login: a server that is starting or stopping answers with an error. */
async function isReady(port: number): Promise<true | undefined> {
  const socket = connect(port, '127.0.0.1')
  try {
    // A start of the protocol for user and database, without TLS.
    const names = Buffer.from('user\0sluice\0database\0postgres\0\0')
    const head = Buffer.alloc(8)
    head.writeInt32BE(8 + names.length, 0)
    head.writeInt32BE(196_608, 4)
    socket.write(Buffer.concat([head, names]))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    return answer[0] === 0x52 ? true : undefined
  } finally {
    socket.destroy()
  }
}

async function accountOf(name: string): Promise<{ readonly uid: number; readonly gid: number }> {
  const id = async (flag: string) => Number((await run('id', [flag, name])).stdout)
  return { uid: await id('-u'), gid: await id('-g') }
}
