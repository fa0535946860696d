import { afterAll, beforeAll } from 'vitest'
import { type LabWorld, startLabWorld } from '../../contracts/lab-world.js'
import { describeMixedVerdicts } from '../../contracts/mixed.suite.js'

let world: LabWorld
beforeAll(async () => {
  world = await startLabWorld()
})
afterAll(async () => await world[Symbol.asyncDispose]())

// It waits, and does not work.
describeMixedVerdicts(() => world, 'patient')
