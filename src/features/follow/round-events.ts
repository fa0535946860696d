/** Passes on the events of rounds as those of one run. */
import { addCounts, nothing } from '../../pipeline/ledger/account.js'
import type { Receipt } from '../../pipeline/ledger/receipt.js'
import type { IngestEvent, Missing } from '../../options/run-events.js'

/** Most different warnings, and inputs, that are named. Every round would repeat them. */
const MOST_TOLD = 1000

export class RoundEvents {
  readonly #tell: (event: IngestEvent) => void
  readonly #told = new Set<string>()
  #before: Pick<Receipt, 'thisProcess' | 'bytes'> | undefined

  constructor(tell: (event: IngestEvent) => void) {
    this.#tell = tell
  }

  /** The rounds so far. */
  ended(receipt: Receipt): void {
    this.#before = receipt
  }

  readonly say = (name: string, message: string): void => {
    this.#tell({ type: 'followed', name, message })
  }

  readonly warn = (message: string, missing?: Missing): void => {
    this.#once(message, { type: 'warning', message, ...(missing === undefined ? {} : { missing }) })
  }

  readonly hear = (event: IngestEvent): void => {
    switch (event.type) {
      case 'warning':
        return this.warn(event.message, event.missing)
      case 'input':
        return this.#once(`input ${event.name}`, event)
      case 'planning':
      case 'preflight':
      case 'begun':
      case 'loaded':
        // Only the first round has something new to say.
        if (this.#before === undefined) this.#tell(event)
        return
      case 'standing':
        // The number of bytes that are left is unknown.
        return
      case 'progress': {
        const { thisProcess = nothing, bytes } = this.#before ?? {}
        const counts = addCounts(thisProcess, event.counts)
        this.#tell({ ...event, counts, bytesRead: (bytes?.read ?? 0) + event.bytesRead })
        return
      }
      default:
        this.#tell(event)
    }
  }

  #once(key: string, event: IngestEvent): void {
    if (this.#told.has(key) || this.#told.size >= MOST_TOLD) return
    this.#told.add(key)
    this.#tell(event)
  }
}
