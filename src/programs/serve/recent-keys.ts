/** Remembers the idempotency keys of recent requests. The journals of loaded segments are kept for this. */
import type { JournalEntry, Request } from './segment.js'

const MOST_KEYS = 10_000

/** The outcome of a request. `other`: its key was used with other documents. */
export type StoredRequest = 'stored' | 'known' | 'other'

export class RecentKeys {
  /** The hash of the documents, by key, and the journal that holds them. Oldest first. */
  readonly #known = new Map<string, { readonly sha256: string; readonly journal: string }>()
  readonly #underway = new Map<string, Promise<void>>()
  /** The journals that hold known keys. */
  readonly #journals = new Map<string, { keys: number; isLoaded: boolean }>()
  #unneeded: string[] = []

  /** Stores a request, unless its key is known. Rejects as `store` does. Then the key counts as unused. */
  async once({ key, sha256 }: Pick<Request, 'key' | 'sha256'>, store: () => Promise<void>): Promise<StoredRequest> {
    if (key !== undefined) {
      // If two requests with one key come at once, the second one waits for the first.
      for (let other = this.#underway.get(key); other !== undefined; other = this.#underway.get(key))
        await other.catch(() => undefined)
      const known = this.#known.get(key)
      if (known !== undefined) return known.sha256 === sha256 ? 'known' : 'other'
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
    this.#forget(key)
    this.#known.set(key, { sha256, journal })
    const of = this.#journals.get(journal)
    if (of === undefined) this.#journals.set(journal, { keys: 1, isLoaded: false })
    else of.keys += 1
    if (this.#known.size <= MOST_KEYS) return
    const [oldest = ''] = this.#known.keys()
    this.#forget(oldest)
  }

  /** Notes that a segment is loaded. */
  retire(journal: string): void {
    const of = this.#journals.get(journal)
    if (of === undefined) this.#unneeded.push(journal)
    else of.isLoaded = true
  }

  /** Returns what a journal has to hold once its segment is loaded: its known keys. */
  entriesIn(journal: string): JournalEntry[] {
    return [...this.#known]
      .filter(([, known]) => known.journal === journal)
      .map(([key, { sha256 }]) => ({ end: 0, documents: 0, sha256, key }))
  }

  /** Returns journals of loaded segments that hold no known key. Returns each once. */
  takeUnneeded(): string[] {
    return this.#unneeded.splice(0)
  }

  #forget(key: string): void {
    const { journal } = this.#known.get(key) ?? {}
    if (journal === undefined) return
    this.#known.delete(key)
    const of = this.#journals.get(journal)
    if (of === undefined || --of.keys > 0) return
    this.#journals.delete(journal)
    if (of.isLoaded) this.#unneeded.push(journal)
  }
}
