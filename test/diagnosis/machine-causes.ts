/** What this machine was told wrong, or has wrong: the static addresses, the time. On any world. */
import type { Cause } from './cause.js'
import { doctor, healthy } from './ways.js'

export const machineCauses: readonly Cause[] = [
  {
    planted: 'STATIC_IPS with two other addresses',
    on: 'Squid',
    expected: 'EGRESS_UNEXPECTED',
    plant: world => doctor(world, { staticIps: ['192.0.2.1', '192.0.2.2'] }),
  },
  {
    planted: 'STATIC_IPS with one address mistyped',
    on: 'Squid',
    expected: 'EGRESS_UNEXPECTED',
    plant: world => doctor(world, { staticIps: [world.staticIps[0], '192.0.2.2'] }),
  },
  ...[1, -1].map((sign): Cause => ({
    planted: `a clock that is an hour ${sign > 0 ? 'ahead' : 'behind'}`,
    on: 'this machine',
    expected: 'CLOCK_SKEW',
    says: sign > 0 ? 'ahead of' : 'behind',
    plant: world => ({
      by: 'doctor',
      options: healthy(world),
      tools: { today: () => Date.now() + sign * 3_600_000 },
    }),
  })),
]
