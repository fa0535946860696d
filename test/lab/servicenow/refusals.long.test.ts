// @module-tag long
import { afterAll, beforeAll, describe } from 'vitest'
import { type InstanceWorld, startLabInstance } from '../../contracts/instance-world.js'
import { describeServiceNowRefusals } from '../../contracts/servicenow-refusals.suite.js'
import { rounds } from '../../support/rounds.js'

describe('on the lab', () => {
  let world: InstanceWorld
  beforeAll(async () => {
    world = await startLabInstance()
  })
  afterAll(async () => await world[Symbol.asyncDispose]())
  describeServiceNowRefusals(() => world, rounds(0, 1) === 0 ? 'pairs' : 'all')
})
