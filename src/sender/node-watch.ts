/** Notices in the middle of a load that one node of the proxy fails: connections fail there again and again, and others work. */
import type { Failure } from '../failure/failure.js'

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
  #isTold = false

  constructor(watching: Watching) {
    this.#watching = watching
  }

  /** Notes a connection that failed before it carried a request. */
  failed(error: Lost): void {
    if (this.#isTold || !error.phase.startsWith('proxy')) return
    const now = this.#watching.now()
    this.#failed = [...this.#failed.filter(at => now - at < WITHIN_MS), now]
    this.#last = error
  }

  /** Notes an answer: the proxy works. */
  answered(): void {
    const { proxy, onFailing } = this.#watching
    if (this.#isTold || proxy === undefined || this.#last === undefined || this.#failed.length < FAILURES) return
    this.#isTold = true
    const why = this.#last.failure.message.replace(/\.$/, '')
    onFailing(
      `${this.#failed.length} new connections failed at the proxy ${proxy}, and others work: ${why}. One node of the proxy may be down: the load continues over the other`,
    )
  }
}
