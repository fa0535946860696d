import { staticPair } from '../egress.js'
import type { Register } from '../filter/presets.js'
import { type AddressRange, AddressRules, checkRange, isWithin } from './address-rules.js'

/** How the static pair is registered at the platform. `open`: nothing is denied. */
export const serviceNowRegisters = ['both', 'first', 'second', 'none', 'open'] as const
export type ServiceNowRegister = (typeof serviceNowRegisters)[number]

/** Translates a preset of the cluster's IP filter for the platform. */
export function serviceNowRegisterOf(which: Register): ServiceNowRegister {
  return which === 'both' || which === 'first' || which === 'second' || which === 'none' ? which : 'open'
}

/** The APIs that a REST API access policy can guard. */
export const guardedApis = ['table', 'oauth'] as const
export type GuardedApi = (typeof guardedApis)[number]

const everyAddress: AddressRange = { from: '0.0.0.0', to: '255.255.255.255' }
const [first, second] = staticPair
const allowed: Readonly<Record<Exclude<ServiceNowRegister, 'open'>, readonly string[]>> = {
  both: [first, second],
  first: [first],
  second: [second],
  none: [],
}

/** Decides which addresses may use the platform, by each of its three means. */
export class Access {
  /** IP address access control, for the whole instance. */
  readonly rules = new AddressRules()
  /** Whether Basic authentication is taken. */
  allowsBasic = true
  /** Adaptive authentication's IP filter criteria: the only addresses allowed, and how others are refused. */
  adaptive: { readonly ranges: readonly AddressRange[]; readonly status: 401 | 403 } | undefined
  readonly #policies = new Map<GuardedApi, readonly AddressRange[]>()

  /** Replaces the rules of IP address access control: the pair, and the administrator, are allowed, everybody else denied. */
  register(which: ServiceNowRegister): void {
    this.rules.clear()
    if (which === 'open') return
    for (const address of [...allowed[which], this.rules.administratorAddress]) {
      this.rules.add({ kind: 'allow', from: address, to: address })
    }
    this.rules.add({ kind: 'deny', ...everyAddress })
  }

  /**
   * Attaches a REST API access policy to an API: only these addresses may use the API. Without ranges, removes the
   * policy.
   */
  setPolicy(api: GuardedApi, ranges: readonly AddressRange[] | undefined): void {
    for (const range of ranges ?? []) checkRange(range)
    if (ranges) this.#policies.set(api, ranges)
    else this.#policies.delete(api)
  }

  setAdaptive(ranges: readonly AddressRange[] | undefined, status: 401 | 403): void {
    for (const range of ranges ?? []) checkRange(range)
    this.adaptive = ranges && { ranges, status }
  }

  /** Whether a REST API access policy lets an address use an API. */
  permits(api: GuardedApi, address: string): boolean {
    const ranges = this.#policies.get(api)
    return !ranges || ranges.some(range => isWithin(address, range))
  }
}
