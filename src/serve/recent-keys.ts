/** Remembers the idempotency keys of recent requests. The journals of loaded segments are kept for this. */
import type { JournalEntry, Request } from './segment.js'

/** Most keys of loaded documents. */
const MOST_KEYS = 10_000

/** The outcome of a request. `other`: its key was used with other documents. */
export type StoredRequest = 'stored' | 'known' | 'other'

export class RecentKeys {
  /** The hash of the documents, by key. */
  readonly #known = new Map<string, string>()
  readonly #underway = new Map<string, Promise<void>>()
  /** The keys of documents that wait to be loaded, by journal. */
  readonly #waiting = new Map<string, string[]>()
  /** Oldest first. */
  readonly #loaded: { readonly journal: string; readonly keys: readonly string[] }[] = []
  #keysOfLoaded = 0

  /** Stores a request, unless its key is known. Rejects as `store` does. Then the key counts as unused. */
  async once({ key, sha256 }: Pick<Request, 'key' | 'sha256'>, store: () => Promise<void>): Promise<StoredRequest> {
    if (key !== undefined) {
      // If two requests with one key come at once, the second one waits for the first.
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

  /** Notes a request on the disk, in this journal. Call it before `store` resolves: a repeated request looks right after that. */
  add(journal: string, { key, sha256 }: Pick<JournalEntry, 'key' | 'sha256'>): void {
    if (key === undefined) return
    this.#known.set(key, sha256)
    const keys = this.#waiting.get(journal)
    if (keys === undefined) this.#waiting.set(journal, [key])
    else keys.push(key)
  }

  /**
   * Notes that a segment is loaded. Returns the journals that are not needed any more: this one if it holds no key, and the oldest if
   * there are too many.
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
