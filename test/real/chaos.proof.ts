/**
 * Chaos at length: outages as long as in life, and hundreds of mixtures. SEEDS: how many on the lab (default 300); FIRST_SEED: the
 * first of them (default 1001); REAL_SEEDS: how many through Squid into Elasticsearch (default 40).
 */
import { afterAll, beforeAll, describe, vi } from 'vitest'
import { startLabWorld } from '../contracts/lab-world.js'
import type { World } from '../contracts/world.js'
import { full, short } from '../lab/load/chaos-cases.js'
import { describeChaos } from '../lab/load/chaos-suite.js'
import { describeOnRealServers } from './on-real-servers.js'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 180_000, maxConcurrency: 12 })

const first = Number(process.env.FIRST_SEED ?? 1001)
const seeds = (count: number) => Array.from({ length: count }, (_, at) => first + at)
const onLab = seeds(Number(process.env.SEEDS ?? 300))
const onServers = seeds(Number(process.env.REAL_SEEDS ?? 40))
console.log(`seeds ${onLab[0]} to ${onLab.at(-1)} on the lab, ${onServers[0]} to ${onServers.at(-1)} on real servers`)

describe('on the lab', () => {
  let world: World
  beforeAll(async () => {
    world = await startLabWorld()
  })
  afterAll(async () => await world[Symbol.asyncDispose]())
  describeChaos(() => world, { scale: full, mixedScale: short, seeds: onLab })
})

describeOnRealServers({ major: 9 }, world => {
  describeChaos(world, { scale: full, mixedScale: short, seeds: onServers })
})
