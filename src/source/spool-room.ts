/** What is done about the next bytes of a stdin whose spool has a limit. */
export type Step =
  | { readonly kind: 'write' }
  /** Until more of it is loaded, or asked for. */
  | { readonly kind: 'wait' }
  /** All before that offset is loaded, and is not needed for anything: but for the head. */
  | { readonly kind: 'drop'; readonly to: number }
  | { readonly kind: 'full' }

/** How a file is known again: by its first bytes, and by as many that end where its loading has come to. */
export const KNOWN_BYTES = 64 << 10

export interface Use {
  /** Bytes of stdin that were written. */
  readonly written: number
  /** What was dropped, from `KNOWN_BYTES` on. */
  readonly dropped: number
  /** Bytes that are to be written next. */
  readonly more: number
  /** Whether anything that can be loaded by itself stands behind that offset. */
  hasLine(from: number): Promise<boolean>
}

/** The rest of the limit is for the moment in which a file is written anew, without what is dropped: at least half of it. */
const USABLE = 2 / 3

/**
 * Keeps what is spooled of one stdin below a limit. Once it is used, stdin is held back until what was spooled first is loaded,
 * which is then dropped. Where that cannot be, it is full.
 */
export class SpoolRoom {
  readonly limit: number
  #loaded = 0
  #isWanted = false
  #isKeptWhole = false
  #isChanged = false
  #wake: (() => void) | undefined

  /** In bytes. */
  constructor(limit: number) {
    this.limit = limit
  }

  /** So far a checkpoint says that it is loaded. Undefined: nothing can be dropped, it is read from its start. */
  loaded(to: number | undefined): void {
    if (to === undefined) this.#isKeptWhole = true
    else this.#loaded = to
    this.#change()
  }

  /** Whether more is needed to go on with the load. */
  want(isWanted: boolean): void {
    this.#isWanted = isWanted
    if (isWanted) this.#change()
  }

  /** Nothing more will be loaded by this process. */
  keepWhole(): void {
    this.loaded(undefined)
  }

  async next(use: Use): Promise<Step> {
    this.#isChanged = false
    const { written, dropped, more, hasLine } = use
    const hole = Math.max(0, dropped - KNOWN_BYTES)
    const kept = written - hole
    if (kept + more <= this.limit * USABLE) return { kind: 'write' }
    if (this.#isKeptWhole) return { kind: 'full' }
    const isAllLoaded = this.#isWanted && !(await hasLine(this.#loaded))
    const to = this.#loaded - KNOWN_BYTES
    const gain = to - Math.max(dropped, KNOWN_BYTES)
    // To drop little by little would be to write all of it again and again.
    if (gain >= kept / 2) return { kind: 'drop', to }
    return { kind: isAllLoaded && !this.#isChanged ? 'full' : 'wait' }
  }

  /** Resolves when the next step may be another one. Throws the signal's reason. */
  async changed(signal: AbortSignal): Promise<void> {
    const abort = () => this.#change()
    signal.addEventListener('abort', abort)
    if (!this.#isChanged && !signal.aborted) await new Promise<void>(resolve => (this.#wake = resolve))
    signal.removeEventListener('abort', abort)
    signal.throwIfAborted()
  }

  #change(): void {
    this.#isChanged = true
    this.#wake?.()
  }
}
