// @module-tag long
import { afterAll, beforeAll } from 'vitest'
import { type LabWorld, startLabWorld } from '../../contracts/lab-world.js'
import { describeMixedVerdicts } from '../../contracts/mixed.suite.js'
import { rounds } from '../../support/rounds.js'

let world: LabWorld
beforeAll(async () => {
  world = await startLabWorld()
})
afterAll(async () => await world[Symbol.asyncDispose]())

// Behind a real Squid are the pairs that take no time. All pairs wait for many minutes: `npm run search`.
for (const pairs of rounds(0, 1) === 0 ? (['patient'] as const) : (['all'] as const))
  describeMixedVerdicts(() => world, pairs)
