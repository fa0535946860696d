/** One request that reached the platform, or its edge. */
export interface LoggedRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** Decoded. Forms are not part of it, so that no secret is. */
  readonly query: Readonly<Record<string, string>>
  /** The source address. */
  readonly from: string
  /** `http` or `https`. */
  readonly port: string
  /** The user. Undefined if the request was not authenticated. */
  readonly username: string | undefined
  /** 0 if there was no answer. */
  readonly status: number
  /** Milliseconds since 1970, by the platform's clock: when it came in. */
  readonly at: number
}

/** A log of limited length: forgets its oldest entries. */
const MOST_ENTRIES = 100_000

export class RequestLog {
  #entries: LoggedRequest[] = []
  #listeners = new Set<(request: LoggedRequest) => void>()

  add(entry: LoggedRequest): void {
    this.#entries.push(entry)
    if (this.#entries.length > MOST_ENTRIES) this.#entries = this.#entries.slice(MOST_ENTRIES / 2)
    for (const listener of this.#listeners) listener(entry)
  }

  /** The result takes the listener away. */
  listen(listener: (request: LoggedRequest) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  list(): readonly LoggedRequest[] {
    return [...this.#entries]
  }

  clear(): void {
    this.#entries = []
  }
}
