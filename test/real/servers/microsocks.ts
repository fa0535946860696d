import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import type { Credentials } from './credentials.js'
import { onFreePorts } from './ports.js'
import { startProcess, untilReady } from './process.js'

export interface Microsocks extends AsyncDisposable {
  readonly port: number
}

export interface MicrosocksOptions {
  readonly microsocks: string
  readonly folder: string
  readonly credentials: Credentials
  /** The one address that its connections leave from. */
  readonly egress: string
}

/** A SOCKS5 server with username and password. */
export async function startMicrosocks({
  microsocks,
  folder,
  credentials,
  egress,
}: MicrosocksOptions): Promise<Microsocks> {
  await mkdir(folder, { recursive: true })
  return onFreePorts(1, async ports => {
    const [port] = ports as [number]
    const { username, password } = credentials
    const args = ['-i', '127.0.0.1', '-p', String(port), '-u', username, '-P', password, '-b', egress]
    const server = await startProcess({ command: microsocks, args, folder })
    try {
      await untilReady('microsocks', server, () => accepts(port, credentials))
    } catch (error) {
      await server[Symbol.asyncDispose]()
      throw error
    }
    return { port, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  })
}

// Only this server takes these credentials: another program on the port would not.
async function accepts(port: number, { username, password }: Credentials): Promise<true | undefined> {
  const socket = connect(port, '127.0.0.1')
  try {
    socket.write(Buffer.from([5, 1, 2]))
    const [method] = (await once(socket, 'data')) as [Buffer]
    if (!method.equals(Buffer.from([5, 2]))) return undefined
    const [user, secret] = [Buffer.from(username), Buffer.from(password)]
    socket.write(Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([secret.length]), secret]))
    const [status] = (await once(socket, 'data')) as [Buffer]
    return status.equals(Buffer.from([1, 0])) ? true : undefined
  } finally {
    socket.destroy()
  }
}
