/**
 * When a fault strikes. It ignores `after` events (default 0), then strikes one in `every` (default 1). It ends after
 * `times` strikes (default: never), or `forMs` after the first.
 */
export interface Schedule {
  readonly after?: number
  readonly times?: number
  readonly every?: number
  readonly forMs?: number
}

/** Faults of the lab. An absent fault is not planted. */
export interface Faults {
  /** Instead of answering CONNECT, a forwarded request or a SOCKS5 request, the proxy closes, resets or keeps silent. */
  readonly handshake?: Schedule & { readonly kind: 'fin' | 'rst' | 'silence' }
  /** The proxy refuses right credentials too: 407, or SOCKS5's own refusal. */
  readonly login?: Schedule
  /** Resets a tunnel after the client has sent this many bytes through it. The last byte still arrives. */
  readonly cut?: Schedule & { readonly afterBytes: number }
  /** The same for connections through the inbound entry: a caller is cut off in the middle of a request. */
  readonly inboundCut?: Schedule & { readonly afterBytes: number }
  /** A gateway before the cluster answers more requests within a second with 429 and Retry-After. */
  readonly rate?: { readonly perSecond: number }
  /** Added to each handshake, and to what a client sends through a tunnel or in a forwarded request. */
  readonly latencyMs?: number
  /** Resets connections from this node's address. With `failover`, the ports of the pair use the other node. */
  readonly nodeDown?: { readonly node: 'first' | 'second'; readonly failover?: boolean }
  /**
   * The IP filter refuses every request from any address. Schedules count bulk requests. Other requests are refused for
   * as long as bulk requests are.
   */
  readonly filter?: Schedule
  /**
   * Answers bulk requests with this status. `stored`: stores all of their documents, or the first half, before the
   * answer.
   */
  readonly bulk?: Schedule & {
    readonly status: number
    readonly body?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly stored?: boolean | 'half'
  }
  /** `_mget` and `_search` are answered with this. */
  readonly lookup?: Schedule & {
    readonly status: number
    readonly body?: string
    readonly headers?: Readonly<Record<string, string>>
  }
  /** Items of bulk requests are refused with this, and not stored. */
  readonly items?: Schedule & { readonly status: number; readonly type: string; readonly reason?: string }
  /** A bulk request takes `tookMs` milliseconds. More than `inFlight` at once are refused with 429. */
  readonly capacity?: { readonly inFlight: number; readonly tookMs: number }
  /**
   * Bulk requests get no answer, and the connection stays open. `stored`: their documents are stored. `late`: only after
   * the client has closed the connection, and the next bulk request was answered.
   */
  readonly hold?: Schedule & { readonly stored?: boolean | 'late' }
  /**
   * Requests of this method whose path ends in `path` get no answer, and the connection stays open. Example: `PUT` and
   * `/_settings`. `done`: they are carried out.
   */
  readonly stall?: Schedule & { readonly method: string; readonly path: string; readonly done?: boolean }
  /** Bulk requests are stored, then the connection is closed instead of answered. */
  readonly drop?: Schedule
  /** Bulk requests get an answer that is damaged on its way: see `damaged-answer.ts`. */
  readonly damage?: Schedule & { readonly how: Damage; readonly stored?: boolean }
  /** Items of bulk requests are stored but reported as kept in the failure store. */
  readonly failureStore?: Schedule
  /** The hosting service's edge answers every request itself: 404 "Unknown resource." or 503. */
  readonly edge?: 'unknown-resource' | 'unavailable'
}

/**
 * `cut`: the connection ends in the middle of the answer. `short`: the answer is complete, and breaks off in the middle.
 * `repeated`: the answer comes twice, as one. `fewer`: the result of the last document is missing.
 */
export type Damage = 'cut' | 'short' | 'repeated' | 'fewer'

/** The faults that strike single events. */
type Scheduled = Required<Omit<Faults, 'rate' | 'latencyMs' | 'nodeDown' | 'capacity' | 'edge'>>

export const faultNames = [
  'handshake',
  'login',
  'cut',
  'inboundCut',
  'rate',
  'latencyMs',
  'nodeDown',
  'filter',
  'bulk',
  'lookup',
  'items',
  'capacity',
  'hold',
  'stall',
  'drop',
  'damage',
  'failureStore',
  'edge',
] as const satisfies readonly (keyof Faults)[]

/** The faults in force, and how often each has been asked for. */
export class FaultPlan {
  #faults: Faults = {}
  #seen = new Map<keyof Faults, number>()
  #firstStruck = new Map<keyof Faults, number>()
  #struck = new Map<keyof Faults, number>()
  #atWork = 0
  /** When a gateway with a rate let requests through, in the last second. */
  #recent: number[] = []
  /** What requests do after their client has gone. */
  #late: (() => void)[] = []

  get current(): Faults {
    return this.#faults
  }

  /** Replaces the named faults, and starts their schedules again. */
  plant(faults: Faults): void {
    for (const name of faultNames) if (faults[name] !== undefined) this.#forget(name)
    this.#faults = { ...this.#faults, ...faults }
  }

  clear(): void {
    for (const name of faultNames) this.#forget(name)
    this.#faults = {}
    this.catchUp()
  }

  /** Keeps what a request does late: until others have done theirs, or all faults are taken away. */
  postpone(work: () => void): void {
    this.#late.push(work)
  }

  /** Does what was postponed. */
  catchUp(): void {
    for (const work of this.#late.splice(0)) work()
  }

  /** Whether as many requests are at work as there is capacity for. */
  get isBusy(): boolean {
    return this.#atWork >= (this.#faults.capacity?.inFlight ?? Infinity)
  }

  /** Calls `done` when the work of one request is over, or at once if no time is planted. */
  work(done: () => void): void {
    const { capacity } = this.#faults
    if (capacity === undefined) return done()
    this.#atWork += 1
    setTimeout(() => {
      this.#atWork -= 1
      done()
    }, capacity.tookMs)
  }

  /** Counts one event against a fault. Returns the fault if it strikes this event. */
  strike<Name extends keyof Scheduled>(name: Name): Scheduled[Name] | undefined {
    const fault = (this.#faults as Partial<Scheduled>)[name]
    if (!fault) return undefined
    const turn = (this.#seen.get(name) ?? 0) - (fault.after ?? 0)
    this.#seen.set(name, (this.#seen.get(name) ?? 0) + 1)
    const { times = Infinity, every = 1 } = fault
    if (turn < 0 || turn % every !== 0 || turn / every >= times || this.#isOver(name, fault)) return undefined
    if (!this.#firstStruck.has(name)) this.#firstStruck.set(name, performance.now())
    this.#struck.set(name, this.struck(name) + 1)
    return fault
  }

  /** Whether a gateway refuses one more request now. */
  isTooOften(): boolean {
    const { rate } = this.#faults
    if (rate === undefined) return false
    const now = performance.now()
    this.#recent = this.#recent.filter(at => now - at < 1000)
    if (this.#recent.length >= rate.perSecond) return true
    this.#recent.push(now)
    return false
  }

  /** How often a fault struck since it was planted. */
  struck(name: keyof Faults): number {
    return this.#struck.get(name) ?? 0
  }

  /** Whether a fault has struck and strikes the next event too. Counts no event. */
  goesOn(name: keyof Scheduled): boolean {
    const fault = (this.#faults as Partial<Scheduled>)[name]
    if (!fault || !this.#firstStruck.has(name)) return false
    const struck = ((this.#seen.get(name) ?? 0) - (fault.after ?? 0)) / (fault.every ?? 1)
    return struck < (fault.times ?? Infinity) && !this.#isOver(name, fault)
  }

  #isOver(name: keyof Faults, { forMs = Infinity }: Schedule): boolean {
    const first = this.#firstStruck.get(name)
    return first !== undefined && performance.now() - first >= forMs
  }

  #forget(name: keyof Faults): void {
    this.#seen.delete(name)
    this.#firstStruck.delete(name)
    this.#struck.delete(name)
  }
}
