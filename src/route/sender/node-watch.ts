/** Notices in the middle of a load that one node of the proxy fails: connections fail there again and again, and others work. */
import type { Failure } from '../../base/failure/failure.js'

/** This many broken connections within a minute are no accident. */
const FAILURES = 3
const WITHIN_MS = 60_000

/** A connection that could not be built. */
interface Lost {
  /** How far it came: `proxy-connect`. */
  readonly phase: string
  readonly failure: Failure
}

interface Watching {
  /** The proxy's URL without credentials. Absent: connections are direct. */
  readonly proxy?: string | undefined
  now(): number
  /** Called once. */
  onFailing(message: string): void
}

export class NodeWatch {
  readonly #watching: Watching
  #failed: number[] = []
  #last: Lost | undefined
  /** Whether the last that happened was an answer. */
  #works = false
  /** Whether a connection failed after an answer that came after another failure: the proxy was not down for a while. */
  #isMixed = false
  #isTold = false

  constructor(watching: Watching) {
    this.#watching = watching
  }

  /** Notes a connection that failed before it carried a request. */
  failed(error: Lost): void {
    if (this.#isTold || !error.phase.startsWith('proxy')) return
    const now = this.#watching.now()
    const before = this.#failed.filter(at => now - at < WITHIN_MS)
    this.#isMixed = before.length > 0 && (this.#isMixed || this.#works)
    this.#works = false
    this.#failed = [...before, now]
    this.#last = error
  }

  /** Notes an answer: the proxy works. */
  answered(): void {
    const { proxy, onFailing } = this.#watching
    this.#works = true
    if (this.#isTold || proxy === undefined || this.#last === undefined) return
    if (!this.#isMixed || this.#failed.length < FAILURES) return
    this.#isTold = true
    const why = this.#last.failure.message.replace(/\.$/, '')
    onFailing(
      `${this.#failed.length} new connections failed at the proxy ${proxy}, and others work: ${why}. One node of the proxy may be down. The load continues over the other`,
    )
  }
}
