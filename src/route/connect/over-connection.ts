/** Options of loads that use a connection which is open already. */
import { openedWith, type ConnectOptions } from '../../options/connect-options.js'
import { invalid } from '../../options/option-checks.js'
import type { Connected } from './open-target.js'
import { SharedConnection } from './shared-connection.js'

const ofConnection = ['target', 'proxy', 'preflightConnections', 'timeoutMs', 'staticIps', 'ipCheckUrl'] as const

type OfConnection = (typeof ofConnection)[number] | 'byteBudget'

/** The options of a load over an open connection, which has its own target, proxy and limits. */
export type OverConnection<T extends ConnectOptions> = Omit<T, OfConnection> & {
  readonly [Name in OfConnection]?: undefined
} & {
  /** The result of `connect`. `concurrency` may be smaller than that of the connection. */
  readonly connection: Connected<unknown>
}

/**
 * Adds to the options of a load those of its open connection, if it has one. Throws SluiceError OPTION_INVALID if they contradict each
 * other.
 */
export function completed<T extends ConnectOptions>(given: T | OverConnection<T>): T {
  // A program without types may pass anything. The checks of options come later.
  if (!isOver(given)) return given
  const { connection, ...options } = given
  const shared = SharedConnection.behind(connection)
  if (shared === undefined) throw invalid('connection', 'is not a connection that connect() of this package has opened')
  const values = options as Readonly<Record<string, unknown>>
  const double = ofConnection.find(name => values[name] !== undefined)
  if (double !== undefined)
    throw invalid(double, 'cannot be combined with connection, which has its own. Pass it to connect()')
  if (values['byteBudget'] !== undefined)
    throw invalid('byteBudget', 'cannot be combined with connection, because other loads may use the same connection')
  const { concurrency } = values
  if (typeof concurrency === 'number' && concurrency > shared.concurrency)
    throw invalid('concurrency', `is ${concurrency}, but the connection was opened for ${shared.concurrency}`)
  const present = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
  return { ...shared.options, ...present, [openedWith]: shared } as unknown as T
}

function isOver<T extends ConnectOptions>(given: T | OverConnection<T>): given is OverConnection<T> {
  return (given as OverConnection<T> | null | undefined)?.connection !== undefined
}

/**
 * Runs a load. If it loses access over an open connection, the next load over this connection tests it first. Throws SluiceError
 * OPTION_INVALID if the connection is closed.
 */
export async function noted<R>(options: object, work: () => Promise<R>): Promise<R> {
  const shared = sharedIn(options)
  shared?.refuseClosed()
  try {
    return await work()
  } catch (error) {
    shared?.note(error)
    throw error
  }
}

function sharedIn(options: { readonly [openedWith]?: unknown } | null | undefined): SharedConnection | undefined {
  const shared = options?.[openedWith]
  return shared instanceof SharedConnection ? shared : undefined
}
