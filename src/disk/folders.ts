import { mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a folder and the folders above it, only for their owner. Makes them one by one: Node's recursive way never
 * returns if a file system lets nobody make a folder (/proc). Rejects with the error of the file system.
 */
export async function makeFolder(path: string): Promise<void> {
  const above = dirname(path)
  try {
    await make(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path) throw error
    await makeFolder(above)
    await make(path).catch((again: unknown) => {
      const { code } = again as NodeJS.ErrnoException
      throw code === 'ENOENT' ? new Error(`no folder can be made in ${above}`, { cause: again }) : again
    })
  }
}

async function make(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    // Systems report an existing folder with different errors.
    const isThere = await stat(path).then(
      found => found.isDirectory(),
      () => false,
    )
    if (!isThere) throw error
  }
}

/** Makes the names of new and renamed files in a folder last. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } catch (error) {
    // Some file systems know no such thing.
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EINVAL' && code !== 'ENOTSUP') throw error
  } finally {
    await folder.close()
  }
}
