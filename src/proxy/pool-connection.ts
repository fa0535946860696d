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
