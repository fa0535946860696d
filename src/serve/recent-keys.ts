/** Idempotency keys of the last requests: also those of parts of the spool that are loaded, whose journals are kept for it. */
import type { JournalEntry } from './journal.js'

/** So many keys of what is loaded are remembered. */
const MOST_KEYS = 10_000

export class RecentKeys {
  readonly #known = new Map<string, JournalEntry>()
  readonly #loaded: { readonly journal: string; readonly keys: readonly string[] }[] = []
  #keysOfLoaded = 0

  get(key: string): Pick<JournalEntry, 'sha256' | 'documents'> | undefined {
    return this.#known.get(key)
  }

  add(entry: JournalEntry): void {
    if (entry.key !== undefined) this.#known.set(entry.key, entry)
  }

  /**
   * A part of the spool is loaded. Resolves to the journals that nobody needs any more: that one where it holds no key, and the oldest
   * where there are too many.
   */
  retire(journal: string, keys: readonly string[]): string[] {
    if (keys.length === 0) return [journal]
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
