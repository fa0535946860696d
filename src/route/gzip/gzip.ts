/** Compresses bodies for all loads of the process: in threads while there are cores for them, otherwise here. */
import { availableParallelism } from 'node:os'
import { copyInto } from '../../base/memory.js'
import { GzipThread, roomFor } from './gzip-thread.js'
import { type Kernel, mostBytes, openGzipKernel } from './kernel/kernel.js'

/** A load that ends sooner is over before a thread has started. */
const BYTES_BEFORE_THREADS = 16 << 20
/** How long threads wait for the next body. */
const KEPT_MS = 5_000
/** After this many parts (about 1 MB), other work of the process gets a turn. */
const PARTS_AT_ONCE = 5

type Thread = Pick<GzipThread, 'isBusy' | 'isOver' | 'gzip' | 'close'>

interface GzipOptions {
  /** Default: one core less than there are, because one reads and sends. */
  readonly mostThreads?: number
  /** How much is compressed here first. Default: 16 MiB. */
  readonly bytesBeforeThreads?: number
  readonly openThread?: () => Thread
}

/** A gzip file, in memory that is used again. */
export interface GzipFile {
  readonly bytes: Buffer
  /** Gives the memory back. Nobody may read the bytes from then on. */
  release(): void
}

interface Order {
  readonly body: Uint8Array
  readonly memory: SharedArrayBuffer
  readonly resolve: (bytes: number) => void
}

export class Gzip {
  readonly #mostThreads: number
  readonly #bytesBeforeThreads: number
  readonly #openThread: () => Thread
  readonly #kernel: Kernel
  /** Memory of files that were sent. New memory for each would be garbage that the engine does not see in time. */
  readonly #free: SharedArrayBuffer[] = []
  readonly #orders: Order[] = []
  #threads: Thread[] = []
  #isBusyHere = false
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  constructor(kernel: Kernel, { mostThreads, bytesBeforeThreads, openThread }: GzipOptions = {}) {
    this.#kernel = kernel
    this.#mostThreads = mostThreads ?? availableParallelism() - 1
    this.#bytesBeforeThreads = bytesBeforeThreads ?? BYTES_BEFORE_THREADS
    this.#openThread = openThread ?? (() => new GzipThread())
  }

  /** Resolves to a gzip file of the body. The body must not change meanwhile. */
  async gzip(body: Uint8Array): Promise<GzipFile> {
    this.#bytes += body.length
    const memory = this.#take(mostBytes(body.length))
    const bytes = await new Promise<number>(resolve => {
      this.#orders.push({ body, memory, resolve })
      this.#turn()
    })
    return { bytes: Buffer.from(memory, 0, bytes), release: () => void this.#free.push(memory) }
  }

  #take(bytes: number): SharedArrayBuffer {
    const memory = this.#free.pop()
    return memory !== undefined && memory.byteLength >= bytes ? memory : new SharedArrayBuffer(roomFor(bytes))
  }

  #turn(): void {
    clearTimeout(this.#timer)
    this.#threads = this.#threads.filter(({ isOver }) => !isOver)
    if (this.#orders.length > 0 && this.#bytes > this.#bytesBeforeThreads) this.#addThread()
    for (const thread of this.#threads.filter(({ isBusy }) => !isBusy)) this.#give(thread)
    // Each thread has its next body at hand.
    if (this.#orders.length > this.#threads.length && !this.#isBusyHere) void this.#compressHere()
    if (this.#threads.every(({ isBusy }) => !isBusy)) this.#timer = setTimeout(() => this.#close(), KEPT_MS).unref()
  }

  #addThread(): void {
    if (this.#threads.length >= this.#mostThreads) return
    try {
      this.#threads.push(this.#openThread())
    } catch {
      // No thread may be started here. This core does it.
      this.#bytes = -Infinity
    }
  }

  #give(thread: Thread): void {
    const order = this.#orders.shift()
    if (order === undefined) return
    void thread.gzip(order.body, order.memory).then(bytes => {
      if (bytes === undefined) this.#orders.unshift(order)
      else order.resolve(bytes)
      this.#turn()
    })
  }

  async #compressHere(): Promise<void> {
    const order = this.#orders.shift()
    if (order === undefined) return
    this.#isBusyHere = true
    const into = Buffer.from(order.memory)
    let [end, parts] = [0, 0]
    for (const part of this.#kernel.gzip(order.body)) {
      end += copyInto(into, end, part)
      parts += 1
      if (parts % PARTS_AT_ONCE === 0) await new Promise<void>(resolve => setImmediate(resolve))
    }
    order.resolve(end)
    this.#isBusyHere = false
    this.#turn()
  }

  #close(): void {
    for (const thread of this.#threads) thread.close()
    this.#threads = []
    this.#free.length = 0
    this.#bytes = 0
  }
}

let shared: Gzip | undefined
let isOpened = false

/** The one of this process. Undefined if this machine cannot run its kernel. */
export function sharedGzip(): Gzip | undefined {
  if (!isOpened) {
    isOpened = true
    const kernel = openGzipKernel()
    shared = kernel === undefined ? undefined : new Gzip(kernel)
  }
  return shared
}
