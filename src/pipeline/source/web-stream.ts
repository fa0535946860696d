import { types } from 'node:util'

/** A web `ReadableStream`, of Node or of a browser's library, as far as Sluice uses it. */
export interface WebStream {
  readonly locked: boolean
  getReader(): unknown
  cancel(reason?: unknown): Promise<void>
}

interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: unknown }>
  cancel(reason?: unknown): Promise<void>
}

/** Returns whether it is a web stream. Those of a test environment or a polyfill are not instances of Node's class. */
export function isWebStream(source: unknown): source is WebStream {
  if (typeof source !== 'object' || source === null) return false
  return 'getReader' in source && 'cancel' in source && 'locked' in source
}

/** The chunks of a web stream. Its end cancels the stream at once, also while a chunk is awaited. */
export class WebChunks implements AsyncIterableIterator<unknown> {
  readonly #reader: Reader
  #first: ReturnType<Reader['read']> | undefined

  constructor(stream: WebStream) {
    this.#reader = stream.getReader() as Reader
  }

  /**
   * Returns whether the chunks are documents, by the first of them: bytes and text are those of a file. Ends the wait for it if the
   * signal aborts.
   */
  async areItems(signal?: AbortSignal): Promise<boolean> {
    this.#first ??= this.#reader.read()
    let abort = () => {}
    const aborted = new Promise<undefined>(resolve => (abort = () => resolve(undefined)))
    signal?.addEventListener('abort', abort)
    try {
      // The consumer gets an error of the stream when it reads.
      const step = await Promise.race([
        this.#first.catch(() => undefined),
        signal?.aborted === true ? undefined : aborted,
      ])
      if (step === undefined || step.done) return false
      return !(typeof step.value === 'string' || types.isAnyArrayBuffer(step.value) || ArrayBuffer.isView(step.value))
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  async next(): Promise<IteratorResult<unknown, undefined>> {
    const answer = this.#first ?? this.#reader.read()
    this.#first = undefined
    const { done, value } = await answer
    return done ? { done, value: undefined } : { done, value }
  }

  async return(): Promise<IteratorResult<unknown, undefined>> {
    await this.#reader.cancel()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
