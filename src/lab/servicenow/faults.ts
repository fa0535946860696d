import type { Schedule } from '../faults.js'

/** Which requests a fault counts, and may strike. Default: all. */
interface Aim extends Schedule {
  readonly api?: 'table' | 'oauth' | 'attachment'
  readonly method?: string
}

/** What can be made to go wrong at the platform. Every fault that is left out is not planted. */
export interface ServiceNowFaults {
  /** 429 of a rate limit rule. Defaults: a limit of 10, and 1800 seconds until it is lifted. */
  readonly rateRule?: Aim & { readonly limit?: number; readonly retryAfterSeconds?: number }
  /** 429 of a full semaphore queue: no headers, no body. */
  readonly semaphore?: Aim
  /** 202 of a full session queue, to a GET too. Nothing is carried out. */
  readonly sessionQueue?: Aim
  /** 500 of the load balancer, which has waited too long. `done`: the request was carried out. */
  readonly balancer?: Aim & { readonly done?: boolean }
  /** 401 to good credentials. */
  readonly login?: Aim
  /** The answer comes so much later. */
  readonly slow?: Aim & { readonly delayMs: number }
  /**
   * A list of more rows exceeds the execution time. The answer is 200 with this many rows and then an error. Its JSON is
   * broken, unless `json` is `valid`.
   */
  readonly quota?: Aim & { readonly rows: number; readonly json?: 'malformed' | 'valid' }
  /** The connection is closed instead of an answer. `done`: once the request was carried out. */
  readonly drop?: Aim & { readonly done?: boolean }
  /** No answer, and the connection stays open. `done`: the request is carried out. */
  readonly stall?: Aim & { readonly done?: boolean }
  /** The connection is closed in the middle of the answer's body. */
  readonly cut?: Aim
  /** The edge in front of the platform gives this answer. The request is not carried out. */
  readonly answer?: Aim & {
    readonly status: number
    readonly body?: string
    readonly headers?: Readonly<Record<string, string>>
  }
}

export const serviceNowFaultNames = [
  'rateRule',
  'semaphore',
  'sessionQueue',
  'balancer',
  'login',
  'slow',
  'quota',
  'drop',
  'stall',
  'cut',
  'answer',
] as const satisfies readonly (keyof ServiceNowFaults)[]

interface Count {
  seen: number
  struck: number
  firstStruck?: number
}

/** The platform's faults in force, and how often each has been asked for. */
export class ServiceNowFaultPlan {
  #faults: ServiceNowFaults = {}
  #counts = new Map<keyof ServiceNowFaults, Count>()

  get current(): ServiceNowFaults {
    return this.#faults
  }

  /** Replaces the faults that are named, and starts their schedules anew. */
  plant(faults: ServiceNowFaults): void {
    for (const name of serviceNowFaultNames) if (faults[name] !== undefined) this.#counts.delete(name)
    this.#faults = { ...this.#faults, ...faults }
  }

  clear(): void {
    this.#faults = {}
    this.#counts.clear()
  }

  /** How often a fault struck since it was planted. */
  struck(name: keyof ServiceNowFaults): number {
    return this.#counts.get(name)?.struck ?? 0
  }

  /** Counts a request that a fault is aimed at. Returns the fault if it strikes this request. */
  strike<Name extends keyof ServiceNowFaults>(
    name: Name,
    api: NonNullable<Aim['api']> | 'other',
    method: string,
  ): NonNullable<ServiceNowFaults[Name]> | undefined {
    const fault = this.#faults[name]
    if (!fault || (fault.api ?? api) !== api || (fault.method ?? method) !== method) return undefined
    const count = this.#counts.get(name) ?? { seen: 0, struck: 0 }
    this.#counts.set(name, count)
    const { after = 0, times = Infinity, every = 1, forMs = Infinity } = fault
    const turn = count.seen++ - after
    const isOver = count.firstStruck !== undefined && performance.now() - count.firstStruck >= forMs
    if (turn < 0 || turn % every !== 0 || turn / every >= times || isOver) return undefined
    count.firstStruck ??= performance.now()
    count.struck++
    return fault
  }
}
