import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { AnswerBody, type RouteRequest, type RouteResponse } from './route-request.js'
import type { Connection, ConnectProgress } from './connector.js'
import { abortedFault, closedFault, exchangeFault, requestTimeoutFault } from './exchange-fault.js'
import { type Phase, RouteError } from './route-error.js'
import type { RouteTarget } from './destination.js'

/** Turns of the event loop in which the last writes of a body are still reported. */
const LAST_WRITES = 3

/** Reports to undici that no connection could be built. It has no code, because some codes make undici reconnect again and again. */
export class NoConnection extends Error {
  constructor(readonly fault: RouteError) {
    super(fault.message)
  }
}

/**
 * One request and its answer. Races the time limit and the signal against undici, because undici settles nothing
 * while a request waits or a connection is being built.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Rejects with a RouteError. */
  readonly response: Promise<RouteResponse>
  /** Set by the connection that takes the request. */
  progress: ConnectProgress | undefined
  #resolve!: (response: RouteResponse) => void
  #reject!: (error: RouteError) => void
  #controller: Dispatcher.DispatchController | undefined
  /** The connection in use. If it closes, `progress` moves to the next one. */
  #connection: Connection | undefined
  #answer: AnswerBody | undefined
  #over = false
  #left = false
  #closeAfterwards = false
  readonly #timer: NodeJS.Timeout | undefined

  /** `over` is called when nothing more comes of it for the caller, `freed` after that, when undici is done with it too. */
  constructor(
    private readonly way: RouteTarget,
    private readonly forward: boolean,
    private readonly request: RouteRequest,
    private readonly calls: { readonly over: () => void; readonly freed: () => void },
  ) {
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    const { timeoutMs, signal } = request
    if (timeoutMs !== undefined) {
      this.#timer = setTimeout(() => {
        this.#fail(requestTimeoutFault(way, this.#phase(), timeoutMs, this.#delivery()))
      }, timeoutMs)
    }
    signal?.addEventListener('abort', this.abort)
  }

  #fail(error: RouteError): void {
    if (!this.#finish()) return
    this.#reject(error)
    this.#answer?.destroy(error)
    if (this.#left) this.#breakOff(error)
    else this.progress?.giveUp?.()
    if (this.request.body instanceof Readable) this.request.body.destroy(error)
  }

  /**
   * Returns the body's memory to the caller. undici no longer aborts a request that it takes for complete because it
   * was answered.
   */
  #breakOff(error: Error): void {
    this.#controller?.abort(error)
    this.#connection?.socket.destroy()
  }

  /** The caller's signal has fired. */
  readonly abort = (): void => {
    this.#fail(abortedFault(this.#phase(), this.#delivery(), this.request.signal?.reason))
  }

  get over(): boolean {
    return this.#over
  }

  /** The route was destroyed. */
  close(cause: unknown): void {
    this.#fail(closedFault(this.way, this.#phase(), this.#delivery(), cause))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#over) {
      controller.abort(new Error('given up before a connection was there'))
      return
    }
    this.#left = true
    this.#controller = controller
    this.#connection = this.progress?.connection
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (statusCode < 200 || this.#over) return
    const answered = present(headers)
    this.#closeAfterwards = this.#mayBeUnread(statusCode, answered)
    this.#answer = new AnswerBody(
      () => controller.resume(),
      () => {
        if (this.#finish()) this.#breakOff(new Error('the answer was abandoned'))
      },
    )
    this.#resolve({ statusCode, headers: answered, body: this.#answer })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#answer?.push(chunk) === false) controller.pause()
  }

  onResponseEnd(): void {
    const { progress } = this
    if (this.#closeAfterwards || this.#bodyFullySent() || progress === undefined) return this.#end()
    // To undici the connection is free from here on: what it wrote to it now would be cut off with it.
    progress.undecided = new Promise<void>(decided => this.#endWhenSent(LAST_WRITES, decided)).then(() => {
      delete progress.undecided
    })
  }

  /** Bytes that have just left are known to have left a turn later. */
  #endWhenSent(turns: number, decided: () => void): void {
    if (turns > 0 && !this.#bodyFullySent()) {
      setImmediate(() => this.#endWhenSent(turns - 1, decided))
      return
    }
    this.#end()
    decided()
  }

  /**
   * Ends the connection if the answer came before the whole body was sent. Its sender may not read the rest, and the caller may not
   * reuse the body's memory while the socket exists.
   */
  #end(): void {
    if (this.#closeAfterwards || !this.#bodyFullySent()) this.#connection?.socket.destroy()
    this.#finish()
    this.#answer?.push(null)
    this.calls.freed()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const broken = { forward: this.forward, silent: this.#connection?.socket.bytesRead === 0 }
    // After an alert of TLS the connection ends, and undici reports only that.
    const first = this.#connection?.firstError ?? error
    const fault = error instanceof NoConnection ? error.fault : exchangeFault(this.way, broken, first, this.#delivery())
    this.#controller = undefined
    this.#fail(fault)
    this.calls.freed()
  }

  /** True the first time. */
  #finish(): boolean {
    if (this.#over) return false
    this.#over = true
    clearTimeout(this.#timer)
    this.request.signal?.removeEventListener('abort', this.abort)
    this.calls.over()
    return true
  }

  #phase(): Phase {
    return this.progress?.phase ?? 'exchange'
  }

  #delivery(): 'none' | 'possible' {
    return this.#left ? 'possible' : 'none'
  }

  /**
   * Whether the answer may have come from someone who did not read the body, though it has left: then the next request would
   * wait behind it. Squid refuses so, with keep-alive, and reads no further (5.7: the second request hangs or is cut off).
   */
  #mayBeUnread(statusCode: number, headers: RouteResponse['headers']): boolean {
    const { body, isReader } = this.request
    if (statusCode < 400 || body === undefined || body === null) return false
    return statusCode === 413 || this.forward || isReader?.(headers) === false
  }

  #bodyFullySent(): boolean {
    const { body } = this.request
    if (body instanceof Readable && !body.readableEnded) return false
    return (this.#connection?.unsentBytes() ?? 0) === 0
  }
}

function present(headers: Record<string, string | string[] | undefined>): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string | string[]] => entry[1] !== undefined),
  )
}
