import { Client, type Dispatcher } from 'undici'
import type { Connector, ConnectProgress } from './connector.js'
import { type Exchange, NoConnection } from './exchange.js'
import { RouteError } from './route-error.js'

/** Options of one dispatch: undici's own, and the exchange that they belong to. */
export interface PoolDispatch extends Dispatcher.DispatchOptions {
  readonly exchange: Exchange
}

/** Opens one connection of a pool, which reports its progress to each exchange. */
export function openPoolConnection(origin: string, settings: Client.Options, connector: Connector): Client {
  const progress: ConnectProgress = { phase: 'exchange' }
  return new PoolConnection(progress, origin, {
    ...settings,
    connect: (_, callback) => {
      delete progress.connection
      connector.open(progress).then(
        connection => {
          progress.phase = 'exchange'
          progress.connection = connection
          callback(null, connection.socket)
        },
        (error: unknown) => {
          callback(error instanceof RouteError ? new NoConnection(error) : asError(error), null)
        },
      )
    },
  })
}

class PoolConnection extends Client {
  constructor(
    private readonly progress: ConnectProgress,
    origin: string,
    options: Client.Options,
  ) {
    super(origin, options)
  }

  override dispatch(options: PoolDispatch, handler: Dispatcher.DispatchHandler): boolean {
    const { progress } = this
    options.exchange.progress = progress
    if (progress.undecided === undefined) return super.dispatch(options, handler)
    void progress.undecided.then(() => super.dispatch(options, handler))
    // The pool sees it as busy.
    return false
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

/**
 * Admits at most `limit` exchanges at once, first come first served. It stands before undici's pool for three
 * reasons: a waiting request has certainly not left, it can give up at once, and it takes a connection that is about
 * to be free instead of a new one. So N requests at concurrency C use C connections.
 */
export class Gate {
  #inside = 0
  #leaving = 0
  readonly #waiting: (() => void)[] = []

  constructor(public limit: number) {}

  /** Calls `admit` as soon as there is room, perhaps before it returns. */
  enter(admit: () => void): void {
    this.#waiting.push(admit)
    this.#pump()
  }

  /** Gives up a place in the queue, if it still is one. */
  giveUp(admit: () => void): void {
    const place = this.#waiting.indexOf(admit)
    if (place >= 0) this.#waiting.splice(place, 1)
  }

  /**
   * Call it inside undici's callback that ends an exchange. undici frees the connection in an immediate right after
   * that callback. Until then, one waiting request waits for this connection.
   */
  leave(): void {
    this.#leaving += 1
    queueMicrotask(() =>
      setImmediate(() => {
        this.#leaving -= 1
        this.#inside -= 1
        this.#pump()
      }),
    )
  }

  #pump(): void {
    while (this.#waiting.length > this.#leaving && this.#inside < this.limit) {
      this.#inside += 1
      this.#waiting.shift()?.()
    }
  }
}
