import { Worker, type WorkerOptions } from 'node:worker_threads'
import { workerCode } from './worker/code.js'
import type { FromWorker, ToWorker } from './worker/messages.js'

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
  #settle: ((file: FromWorker) => void) | undefined
  #isOver = false

  constructor() {
    this.#worker.unref()
    this.#worker.on('message', (file: FromWorker) => this.#answer(file))
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

  /** Resolves to the gzip file. Undefined if the thread ended before it had it. */
  async gzip(body: Uint8Array): Promise<FromWorker> {
    if (this.#isOver) return undefined
    if (this.#memory.byteLength < body.length) this.#memory = new SharedArrayBuffer(body.length)
    new Uint8Array(this.#memory).set(body)
    this.#worker.ref()
    return await new Promise(resolve => {
      this.#settle = resolve
      const message: ToWorker = { memory: this.#memory, bytes: body.length }
      this.#worker.postMessage(message, [])
    })
  }

  close(): void {
    this.#end()
    void this.#worker.terminate()
  }

  #answer(file: FromWorker): void {
    if (file === undefined) return this.close()
    this.#worker.unref()
    const settle = this.#settle
    this.#settle = undefined
    settle?.(file)
  }

  #end(): void {
    this.#isOver = true
    this.#settle?.(undefined)
    this.#settle = undefined
  }
}
