import { lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/** Returns whether a path leads out of a folder, also by a symbolic link. The file may be missing. */
export function leadsOut(path: string, folder: string): boolean {
  const [real, from] = [realPath(resolve(path)), realPath(resolve(folder))]
  if (real === undefined || from === undefined) return true
  const way = relative(from, real)
  return isAbsolute(way) || way === '..' || way.startsWith(`..${sep}`)
}

/** Returns undefined for a link that leads to nothing yet: who writes there would make a file in a place unknown here. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
    const folder = isLink || dirname(path) === path ? undefined : realPath(dirname(path))
    return folder === undefined ? undefined : join(folder, basename(path))
  }
}
