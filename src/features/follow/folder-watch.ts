/** Hears at once that a name appears or goes in a folder, if the system reports it. Network file systems do not: looking stays needed. */
import { type FSWatcher, watch } from 'node:fs'

/** Each takes a watch of the system, which has few. */
const MOST_FOLDERS = 64

export class FolderWatch implements Disposable {
  readonly #watches = new Map<string, FSWatcher>()
  #wake: (() => void) | undefined
  #hasHeard = false

  /** Watches these folders, too. One that cannot be watched is only looked at. */
  add(folders: Iterable<string>): void {
    for (const folder of folders) {
      if (this.#watches.has(folder) || this.#watches.size >= MOST_FOLDERS) continue
      try {
        const watcher = watch(folder, { persistent: false }, type => {
          if (type === 'rename') this.#hear()
        })
        watcher.on('error', () => {
          watcher.close()
          this.#watches.delete(folder)
        })
        this.#watches.set(folder, watcher)
      } catch {
        // Looking finds what happens there.
      }
    }
  }

  /** Resolves at the next change, at one since the last call, or when the signal aborts. One caller may wait at a time. */
  async change(signal: AbortSignal): Promise<void> {
    if (!this.#hasHeard && !signal.aborted)
      await new Promise<void>(resolve => {
        this.#wake = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    this.#hasHeard = false
  }

  [Symbol.dispose](): void {
    for (const watcher of this.#watches.values()) watcher.close()
  }

  #hear(): void {
    this.#hasHeard = true
    this.#wake?.()
  }
}
