/** Idempotency keys of the last requests: also those of parts of the spool that are loaded, whose journals are kept for it. */
import type { JournalEntry } from './journal.js'
import type { Request } from './segment.js'

/** So many keys of what is loaded are remembered. */
const MOST_KEYS = 10_000

/** What became of a request. `other`: its key was used with other documents. */
export type Stored = 'stored' | 'known' | 'other'

export class RecentKeys {
  /** By key: the hash of the documents that it came with. */
  readonly #known = new Map<string, string>()
  readonly #underway = new Map<string, Promise<void>>()
  /** By journal: the keys in it, while its documents wait to be loaded. */
  readonly #waiting = new Map<string, string[]>()
  /** Oldest first. */
  readonly #loaded: { readonly journal: string; readonly keys: readonly string[] }[] = []
  #keysOfLoaded = 0

  /** Stores a request unless one with its key was. Rejects as `store` does: then the key is as good as unused. */
  async once({ key, sha256 }: Pick<Request, 'key' | 'sha256'>, store: () => Promise<void>): Promise<Stored> {
    if (key !== undefined) {
      // The same one twice at once: the second one is told what became of the first.
      for (let other = this.#underway.get(key); other !== undefined; other = this.#underway.get(key))
        await other.catch(() => undefined)
      const known = this.#known.get(key)
      if (known !== undefined) return known === sha256 ? 'known' : 'other'
    }
    const stored = store()
    if (key !== undefined) {
      this.#underway.set(key, stored)
      const over = () => void this.#underway.delete(key)
      void stored.then(over, over)
    }
    await stored
    return 'stored'
  }

  /** The request is on the disk, in this journal. To be told before `store` resolves: a repetition looks right after it. */
  add(journal: string, { key, sha256 }: Pick<JournalEntry, 'key' | 'sha256'>): void {
    if (key === undefined) return
    this.#known.set(key, sha256)
    const keys = this.#waiting.get(journal)
    if (keys === undefined) this.#waiting.set(journal, [key])
    else keys.push(key)
  }

  /**
   * A part of the spool is loaded. Returns the journals that nobody needs any more: that one where it holds no key, and the oldest
   * where there are too many.
   */
  retire(journal: string): string[] {
    const keys = this.#waiting.get(journal)
    if (keys === undefined) return [journal]
    this.#waiting.delete(journal)
    this.#loaded.push({ journal, keys })
    this.#keysOfLoaded += keys.length
    const gone: string[] = []
    while (this.#keysOfLoaded > MOST_KEYS && this.#loaded.length > 1) {
      const oldest = this.#loaded.shift()
      if (oldest === undefined) break
      for (const key of oldest.keys) this.#known.delete(key)
      this.#keysOfLoaded -= oldest.keys.length
      gone.push(oldest.journal)
    }
    return gone
  }
}
