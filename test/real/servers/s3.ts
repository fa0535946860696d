import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { onFreePorts } from './ports.js'
import { startProcess, untilReady } from './process.js'

export interface S3Server extends AsyncDisposable {
  /** http://127.0.0.1:PORT */
  readonly url: string
  /** What the AWS SDK reads. */
  readonly env: Readonly<Record<string, string>>
}

const user = { ROOT_ACCESS_KEY: 'sluice-test', ROOT_SECRET_KEY: 'not-a-secret-of-anybody' }

/** versitygw before a folder of files. */
export async function startS3(versitygw: string, folder: string): Promise<S3Server> {
  const buckets = join(folder, 'buckets')
  await mkdir(buckets, { recursive: true })
  return await onFreePorts(1, async ([port = 0]) => {
    const args = ['--port', `127.0.0.1:${port}`, 'posix', buckets]
    const server = await startProcess({ command: versitygw, args, folder, env: { ...process.env, ...user } })
    const url = `http://127.0.0.1:${port}`
    await untilReady('versitygw', server, async () => ((await fetch(url)).status > 0 ? true : undefined))
    return {
      url,
      env: {
        AWS_ENDPOINT_URL_S3: url,
        AWS_ACCESS_KEY_ID: user.ROOT_ACCESS_KEY,
        AWS_SECRET_ACCESS_KEY: user.ROOT_SECRET_KEY,
        // Nothing of the machine itself.
        AWS_CONFIG_FILE: join(folder, 'none'),
        AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none'),
        AWS_EC2_METADATA_DISABLED: 'true',
      },
      [Symbol.asyncDispose]: async () => await server[Symbol.asyncDispose](),
    }
  })
}
