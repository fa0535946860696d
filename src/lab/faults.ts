/** When a fault strikes: it lets `after` events pass (default 0), then strikes `times` of them (default: all). */
export interface Schedule {
  readonly after?: number
  readonly times?: number
}

/** What can be made to go wrong. Every fault that is left out is not planted. */
export interface Faults {
  /** Instead of answering CONNECT, a forwarded request or a SOCKS5 request, the proxy closes, resets or keeps silent. */
  readonly handshake?: Schedule & { readonly kind: 'fin' | 'rst' | 'silence' }
  /** A tunnel is reset once the client has sent this many bytes through it; the last of them still arrive. */
  readonly cut?: Schedule & { readonly afterBytes: number }
  /** Added to each handshake, and to what a client sends through a tunnel or in a forwarded request. */
  readonly latencyMs?: number
  /** Connections that would leave from this node's address are reset. With `failover` the pair's ports use the other node. */
  readonly nodeDown?: { readonly node: 'first' | 'second'; readonly failover?: boolean }
  /** Bulk requests are answered with this. `stored`: after their documents were stored all the same. */
  readonly bulk?: Schedule & {
    readonly status: number
    readonly body?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly stored?: boolean
  }
  /** `_mget` and `_search` are answered with this. */
  readonly lookup?: Schedule & {
    readonly status: number
    readonly body?: string
    readonly headers?: Readonly<Record<string, string>>
  }
  /** Items of bulk requests are refused with this, and not stored. */
  readonly items?: Schedule & { readonly status: number; readonly type: string; readonly reason?: string }
  /** A bulk request takes so many milliseconds; beyond so many at once they are refused with 429. */
  readonly capacity?: { readonly inFlight: number; readonly tookMs: number }
  /** Bulk requests get no answer; the connection stays open. `stored`: their documents are stored. */
  readonly hold?: Schedule & { readonly stored?: boolean }
  /** Bulk requests are stored, then the connection is closed instead of answered. */
  readonly drop?: Schedule
  /** Items of bulk requests are stored but reported as kept in the failure store. */
  readonly failureStore?: Schedule
  /** The hosting service's edge answers every request itself: 404 "Unknown resource." or 503. */
  readonly edge?: 'unknown-resource' | 'unavailable'
}

/** The faults that strike single events. */
type Scheduled = Required<Omit<Faults, 'latencyMs' | 'nodeDown' | 'capacity' | 'edge'>>

export const faultNames = [
  'handshake',
  'cut',
  'latencyMs',
  'nodeDown',
  'bulk',
  'lookup',
  'items',
  'capacity',
  'hold',
  'drop',
  'failureStore',
  'edge',
] as const satisfies readonly (keyof Faults)[]

/** The faults in force, and how often each has been asked for. */
export class FaultPlan {
  #faults: Faults = {}
  #seen = new Map<keyof Faults, number>()
  #atWork = 0

  get current(): Faults {
    return this.#faults
  }

  /** Replaces the faults that are named, and starts their schedules anew. */
  plant(faults: Faults): void {
    for (const name of faultNames) if (faults[name] !== undefined) this.#seen.delete(name)
    this.#faults = { ...this.#faults, ...faults }
  }

  clear(): void {
    this.#faults = {}
    this.#seen.clear()
  }

  /** Whether as many requests are at work as there is capacity for. */
  get isBusy(): boolean {
    return this.#atWork >= (this.#faults.capacity?.inFlight ?? Infinity)
  }

  /** Calls `done` when the work of one request is over: at once where no time was planted. */
  work(done: () => void): void {
    const { capacity } = this.#faults
    if (capacity === undefined) return done()
    this.#atWork += 1
    setTimeout(() => {
      this.#atWork -= 1
      done()
    }, capacity.tookMs)
  }

  /** Counts one event against a fault; the fault, if it strikes this one. */
  strike<Name extends keyof Scheduled>(name: Name): Scheduled[Name] | undefined {
    const fault = (this.#faults as Partial<Scheduled>)[name]
    if (!fault) return undefined
    const before = this.#seen.get(name) ?? 0
    this.#seen.set(name, before + 1)
    const { after = 0, times = Infinity } = fault
    return before >= after && before < after + times ? fault : undefined
  }
}
