import { Worker, type WorkerOptions } from 'node:worker_threads'
import { copyInto } from '../../base/memory.js'
import { workerCode } from './worker/code.js'
import type { FromWorker, ToWorker } from './worker/messages.js'

/** Bodies of one load differ a little in size. Untouched pages take no memory. */
export function roomFor(bytes: number): number {
  return Math.ceil(bytes / ROOM_BYTES) * ROOM_BYTES
}

const ROOM_BYTES = 2 << 20

const OPTIONS: WorkerOptions = {
  eval: true,
  execArgv: [],
  env: {},
  // It prints nothing, and so listens to no stream of this process.
  stdout: true,
  stderr: true,
  // A body is read as it lies in memory, so a thread needs next to no heap.
  resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
}

/** A worker thread that compresses one body at a time. It does not keep the process alive while it has none. */
export class GzipThread {
  readonly #worker = new Worker(workerCode, OPTIONS)
  #memory = new SharedArrayBuffer(0)
  #settle: ((end: FromWorker) => void) | undefined
  #isOver = false

  constructor() {
    this.#worker.unref()
    this.#worker.on('message', (end: FromWorker) => this.#answer(end))
    // Whatever ended it: the body is still here, and is compressed elsewhere.
    this.#worker.on('error', () => this.#end())
    this.#worker.on('exit', () => this.#end())
  }

  /** Whether it ended, and takes no body any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  get isBusy(): boolean {
    return this.#settle !== undefined
  }

  /** Writes the gzip file of the body. Resolves to its length, or to undefined if the thread ended before it had it. */
  async gzip(body: Uint8Array, file: SharedArrayBuffer): Promise<number | undefined> {
    if (this.#isOver) return undefined
    const shared = this.#shared(body)
    this.#worker.ref()
    return await new Promise(resolve => {
      this.#settle = resolve
      const message: ToWorker = { ...shared, bytes: body.length, file }
      this.#worker.postMessage(message, [])
    })
  }

  /** Returns where a thread finds the body. Most bodies lie in memory that all threads share. */
  #shared(body: Uint8Array): Pick<ToWorker, 'body' | 'from'> {
    const { buffer, byteOffset: from } = body
    if (buffer instanceof SharedArrayBuffer) return { body: buffer, from }
    if (this.#memory.byteLength < body.length) this.#memory = new SharedArrayBuffer(roomFor(body.length))
    copyInto(Buffer.from(this.#memory), 0, body)
    return { body: this.#memory, from: 0 }
  }

  close(): void {
    this.#end()
    void this.#worker.terminate()
  }

  #answer(end: FromWorker): void {
    if (end === undefined) return this.close()
    this.#worker.unref()
    const settle = this.#settle
    this.#settle = undefined
    settle?.(end)
  }

  #end(): void {
    this.#isOver = true
    this.#settle?.(undefined)
    this.#settle = undefined
  }
}
