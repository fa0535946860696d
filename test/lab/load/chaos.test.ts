// @module-tag search
/** Sluice through a gate that loses, cuts, delays and refuses: alone, and mixed by seeds. `npm run proof:chaos` is the long one. */
import { afterAll, beforeAll, vi } from 'vitest'
import { startLabWorld } from '../../contracts/lab-world.js'
import type { World } from '../../contracts/world.js'
import { short } from './chaos-cases.js'
import { describeChaos } from './chaos-suite.js'

vi.setConfig({ maxConcurrency: 12 })

let world: World
beforeAll(async () => {
  world = await startLabWorld()
})
afterAll(async () => await world[Symbol.asyncDispose]())

describeChaos(() => world, {
  // Only the planted delay is longer than this, also on a slow machine.
  scale: { ...short, timeoutMs: 3000 },
  mixedScale: short,
  seeds: Array.from({ length: 60 }, (_, at) => at + 1),
})
