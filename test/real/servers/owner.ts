import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keep } from './keeper.js'

/** Owns a temporary folder and the servers that live in it; disposing stops them, the last one first, and removes it. */
export interface Owner extends AsyncDisposable {
  readonly folder: string
  own<T extends AsyncDisposable>(starting: Promise<T>): Promise<T>
  /** Waits for all of them to end, one way or the other; if any failed, disposes of everything and throws its error. */
  all<A, B>(starting: readonly [Promise<A>, Promise<B>]): Promise<[A, B]>
}

export async function newOwner(): Promise<Owner> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-real-'))
  keep.folder(folder)
  await chmod(folder, 0o755) // servers that drop to an account of their own must get in
  const servers: AsyncDisposable[] = []
  const dispose = async (): Promise<void> => {
    for (const server of servers.splice(0).toReversed()) await server[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    keep.forgetFolder(folder)
  }
  return {
    folder,
    async own(starting) {
      const server = await starting
      servers.push(server)
      return server
    },
    async all(starting) {
      const results = await Promise.allSettled(starting)
      const [first, second] = results
      if (first.status === 'fulfilled' && second.status === 'fulfilled') return [first.value, second.value]
      await dispose()
      throw results.find(result => result.status === 'rejected')?.reason
    },
    [Symbol.asyncDispose]: dispose,
  }
}
