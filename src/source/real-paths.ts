import { realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Keeps where files really are, if symbolic links lead there. There may be very many files, and few folders. */
export class RealPaths {
  /** By path. */
  readonly #folders = new Map<string, string>()
  /** Links to files, by the id of the file. */
  readonly #links = new Map<number, string>()

  async find(id: number, path: string, isLink: boolean): Promise<void> {
    if (isLink) this.#links.set(id, await realpath(path).catch(() => path))
    const folder = dirname(path)
    if (!this.#folders.has(folder)) this.#folders.set(folder, await realpath(folder).catch(() => folder))
  }

  of(id: number, path: string): string {
    const folder = dirname(path)
    const real = this.#folders.get(folder) ?? folder
    return this.#links.get(id) ?? (real === folder ? path : join(real, basename(path)))
  }
}
