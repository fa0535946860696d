/** Sends requests for objects: directly, or through the static-IP proxy if the user says so. */
import { isLoopback } from '../../base/addresses.js'
import { fail, SluiceError } from '../../base/failure/failure.js'
import { faultIn, openRouteTo } from '../../route/connect/route-to.js'
import type { ProxySection } from '../../options/load.js'
import { lostSourceAnswer } from './judge-answer.js'

/** Parts of one object and the beginnings of the next ones are read at once. */
const CONNECTIONS = 24

type Route = NonNullable<ReturnType<typeof openRouteTo>>
type RouteRequest = Parameters<Route['request']>[0]
export type RouteResponse = Awaited<ReturnType<Route['request']>>

export interface RouteSettings {
  /** Undefined if Sluice connects directly. */
  readonly proxy: ProxySection | undefined
  readonly ca: string | Buffer | undefined
  readonly connectTimeoutMs: number | undefined
}

export class SourceRoutes {
  readonly #settings: RouteSettings
  readonly #byOrigin = new Map<string, Route>()

  constructor(settings: RouteSettings) {
    this.#settings = settings
  }

  /** Asks a server. Throws SluiceError SOURCE_*, PROXY_*, OPTION_INVALID, or the reason of the signal. */
  async ask(input: string, origin: string, request: RouteRequest): Promise<RouteResponse> {
    const route = this.#to(new URL(origin))
    try {
      const response = await route.request(request)
      const refused = route.refusal(response)
      if (refused === undefined) return response
      response.body.destroy()
      throw new SluiceError(refused)
    } catch (error) {
      throw lost(input, error, request.signal)
    }
  }

  /** Returns whether requests to a server stay on this machine. Throws SluiceError OPTION_INVALID. */
  isLocal({ origin, hostname }: URL): boolean {
    if (!isLoopback(hostname)) return false
    const { proxy } = this.#to(new URL(origin))
    return proxy === undefined || isLoopback(new URL(proxy).hostname)
  }

  /** Says which servers were asked, and how. */
  all(): readonly string[] {
    return [...this.#byOrigin.values()].map(({ target, form, proxy }) => {
      const way = proxy === undefined ? 'directly, not through the proxy' : `${form} through ${proxy}`
      return `reads from ${target.origin} ${way}`
    })
  }

  async close(): Promise<void> {
    for (const route of this.#byOrigin.values()) await route.destroy()
  }

  #to(url: URL): Route {
    const known = this.#byOrigin.get(url.origin)
    if (known !== undefined) return known
    const route = openRouteTo(new URL(url.origin), { ...this.#settings, connections: CONNECTIONS })
    if (route === undefined)
      throw fail('OPTION_INVALID', { option: 'remote.throughProxy', problem: 'is set, but no proxy is set' })
    this.#byOrigin.set(url.origin, route)
    return route
  }
}

/** Returns the error to throw for an answer that did not come, or broke off. */
export function lost(input: string, error: unknown, signal: AbortSignal | null | undefined): unknown {
  if (signal?.aborted === true) return signal.reason
  const fault = faultIn(error)
  return fault === undefined ? error : new SluiceError(lostSourceAnswer(input, fault), { cause: error })
}
