import type { ServiceNowFaults } from '../faults.js'
import type { Platform } from '../platform.js'
import type { RateLimitRule } from '../rate-limit.js'

/** The clock, the load that the platform is under, and what goes wrong. */
export interface WeatherControl {
  /**
   * Sets the platform's clock, `yyyy-MM-dd HH:mm:ss` in UTC. It runs from there, unless it is frozen. `undefined`: the
   * machine's clock.
   */
  setClock(time: string | undefined, frozen?: boolean): void
  advanceClock(ms: number): void
  /** The platform's time in milliseconds since 1970. */
  now(): number
  /** An instance that sleeps answers every path with a page, or with a redirection. */
  hibernate(how: 'page' | 'redirect' | undefined): void
  /** The rate limit rule of the Table API, counted for each user. */
  limitRate(rule: RateLimitRule | undefined): void
  /** Adds faults to the active ones. A fault that is already active starts again. */
  plant(faults: ServiceNowFaults): void
  faults(): ServiceNowFaults
  /** How often a fault struck since it was planted. */
  struck(fault: keyof ServiceNowFaults): number
  /** Takes away every fault, the rate limit and the hibernation. */
  heal(): void
}

export function weatherControl(platform: Platform): WeatherControl {
  const { clock, faults } = platform
  return {
    setClock: (time, frozen) => (time === undefined ? clock.release() : clock.set(time, frozen)),
    advanceClock: ms => clock.advance(ms),
    now: () => clock.now(),
    hibernate(how) {
      platform.hibernation = how
    },
    limitRate: rule => platform.rateLimit.set(rule),
    plant: more => faults.plant(more),
    faults: () => faults.current,
    struck: fault => faults.struck(fault),
    heal() {
      faults.clear()
      platform.rateLimit.set(undefined)
      platform.hibernation = undefined
    },
  }
}
