/** One worker thread with the user's module. Whatever the module does, the run hears of it. */
import { env, stderr } from 'node:process'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { fail } from '../../base/failure/failure.js'
import { withoutCredentials } from '../../base/secrets.js'
import { describeOption, optionNames } from '../../options/describe-option.js'
import { describeError } from './transform-document.js'
import type { LineJob } from './transform-lines.js'
import { workerCode } from './worker/code.js'
import type { FromWorker, ToWorker, WorkerSetup } from './worker/messages.js'

export interface ThreadOptions {
  /** The module as the user named it, and its URL. */
  readonly name: string
  readonly module: string
  readonly maxBytes: number
  /** How long the function may take for one document. */
  readonly timeoutMs: number
  /** How long the module may take to load. */
  readonly loadMs: number
}

/** A job of which results are expected. */
interface Order {
  readonly job: LineJob
  /** Called with its results in their order. Undefined: it is done. */
  give: (bytes: Uint8Array | undefined) => void
  break: (error: unknown) => void
}

const CHECKS = 4

/** Leaves out what the system sets for all programs, as HTTPS_PROXY: requests of the module need it. */
const secretRows = optionNames.map(describeOption).filter(({ secret, environmentOnly }) => secret && !environmentOnly)

/** Returns the environment for the user's module: without the credentials of the load, which the module and its packages do not need. */
function withoutCredentialsIn(all: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isCredential = (name: string, value = ''): boolean =>
    secretRows.some(
      ({ env: names, secret }) => names.includes(name) && (secret === 'value' || withoutCredentials(value) !== value),
    )
  return Object.fromEntries(Object.entries(all).filter(([name, value]) => !isCredential(name, value)))
}

export class WorkerThread {
  readonly #options: ThreadOptions
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #progress = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)
  readonly #counters = new Int32Array(this.#progress)
  readonly #orders: Order[] = []
  readonly #watch: NodeJS.Timeout
  /** Set while the run, and not the worker, has the next step. */
  #isTaking = false
  #seen = 0
  #since = performance.now()
  #ended: { readonly error: unknown } | undefined
  #started: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | undefined

  constructor(options: ThreadOptions) {
    const { port1, port2 } = new MessageChannel()
    const { module, maxBytes, timeoutMs, loadMs } = options
    const setup: WorkerSetup = { port: port2, module, maxBytes, progress: this.#progress }
    this.#options = options
    // What the module prints must not stand in the receipt.
    this.#worker = new Worker(workerCode, {
      eval: true,
      workerData: setup,
      transferList: [port2],
      stdout: true,
      env: withoutCredentialsIn(env),
    })
    this.#worker.stdout.on('data', (text: Buffer) => stderr.write(text))
    this.#port = port1
    port1.on('message', (message: FromWorker) => this.#hear(message))
    this.#worker.on('error', error => this.#end(`ended its thread with ${describeError(error)}`))
    this.#worker.on('exit', code => this.#end(`ended its thread with exit code ${code}`))
    this.#watch = setInterval(() => this.#look(), Math.max(1, Math.min(timeoutMs, loadMs) / CHECKS))
    this.#rest()
  }

  /** Resolves when the function is there. Throws SluiceError TRANSFORM_NOT_LOADED. */
  async started(): Promise<void> {
    this.#work()
    try {
      await new Promise<void>((resolve, reject) => (this.#started = { resolve, reject }))
    } finally {
      this.#started = undefined
      this.#rest()
    }
  }

  /** Begins a job behind those before. Throws SluiceError TRANSFORM_STOPPED. */
  start(job: LineJob): AsyncIterable<Uint8Array> {
    const results: (Uint8Array | undefined)[] = []
    let broken: { readonly error: unknown } | undefined = this.#ended
    let wake: (() => void) | undefined
    const order: Order = {
      job,
      give: bytes => {
        results.push(bytes)
        wake?.()
      },
      break: error => {
        broken = { error }
        wake?.()
      },
    }
    if (broken === undefined) {
      this.#work()
      this.#orders.push(order)
      this.#say({ kind: 'job', job }, [job.bytes.buffer as ArrayBuffer])
    }
    const taken = () => {
      this.#isTaking = false
      this.#since = performance.now()
      this.#say({ kind: 'taken' })
    }
    return {
      async *[Symbol.asyncIterator]() {
        for (;;) {
          if (results.length === 0 && broken === undefined) await new Promise<void>(resolve => (wake = resolve))
          if (results.length === 0 && broken !== undefined) throw broken.error
          const bytes = results.shift()
          if (bytes === undefined) return
          yield bytes
          taken()
        }
      },
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#watch)
    this.#ended ??= { error: new Error('closed') }
    await this.#worker.terminate()
    this.#port.close()
  }

  #hear(message: FromWorker): void {
    this.#since = performance.now()
    const [order] = this.#orders
    switch (message.kind) {
      case 'ready':
        this.#started?.resolve()
        break
      case 'unfit':
        this.#refuse(message.problem)
        break
      case 'piece':
        this.#isTaking = true
        order?.give(message.bytes)
        break
      case 'done':
        this.#orders.shift()
        order?.give(undefined)
        if (this.#orders.length === 0) this.#rest()
        break
    }
  }

  /** Ends a worker in which nothing has moved for too long. */
  #look(): void {
    const seen = Atomics.load(this.#counters, 0)
    const isIdle = this.#orders.length === 0 && this.#started === undefined
    if (seen !== this.#seen || isIdle || this.#isTaking) this.#since = performance.now()
    this.#seen = seen
    const isLoading = this.#started !== undefined
    const { loadMs, timeoutMs } = this.#options
    const limitMs = isLoading ? loadMs : timeoutMs
    if (performance.now() - this.#since < limitMs) return
    if (isLoading) this.#refuse(`it did not load within ${limitMs / 1000} s`)
    else this.#end(`did not return within ${limitMs / 1000} s`)
    void this.#worker.terminate()
  }

  #refuse(problem: string): void {
    const { name: module } = this.#options
    this.#started?.reject(fail('TRANSFORM_NOT_LOADED', { module, problem }))
  }

  #end(what: string): void {
    if (this.#started !== undefined) return this.#refuse(`it ${what}`)
    if (this.#ended !== undefined) return
    const { name: module } = this.#options
    const [first] = this.#orders
    const line = (first?.job.line ?? 1) + Atomics.load(this.#counters, 1)
    const place = first === undefined ? 'between two documents' : `at ${first.job.path}, line ${line}`
    this.#ended = { error: fail('TRANSFORM_STOPPED', { module, what, place }) }
    for (const order of this.#orders.splice(0)) order.break(this.#ended.error)
  }

  #say(message: ToWorker, transfer: readonly ArrayBuffer[] = []): void {
    this.#port.postMessage(message, [...transfer])
  }

  /** An idle worker does not keep the process. */
  #rest(): void {
    this.#worker.unref()
    this.#port.unref()
    this.#watch.unref()
  }

  #work(): void {
    this.#since = performance.now()
    this.#worker.ref()
    this.#port.ref()
    this.#watch.ref()
  }
}
