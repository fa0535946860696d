import { afterAll, beforeAll, describe } from 'vitest'
import type { LabOptions } from '../../src/lab/index.js'
import { startLabWorld } from './lab-world.js'
import { allSuites } from './suites.js'
import { allPairs } from './options.js'
import type { World } from './world.js'

/** Runs suites of a cluster on a lab of its own, over these pairs of proxy and scheme. Each lab has a file, so that they run side by side. */
export function describeOnLab(name: string, options: LabOptions, suites = allSuites, pairs = allPairs): void {
  describe(`on the lab: ${name}`, () => {
    let world: World
    beforeAll(async () => {
      world = await startLabWorld(options)
    })
    afterAll(async () => await world[Symbol.asyncDispose]())
    for (const suite of suites) suite(() => world, pairs)
  })
}
