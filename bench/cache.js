import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where the bench keeps what is large or built: never inside the checkout. Makes the folder. */
export function cacheFolder(...names) {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice', 'bench', ...names)
  mkdirSync(folder, { recursive: true })
  return folder
}

/** Short hash of some files, as part of the name of what is built from them. */
export function hashOf(...files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(file))
  return hash.digest('hex').slice(0, 12)
}
