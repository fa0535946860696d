// @module-tag search
// The ordinary run has some of these cases behind a real Squid.
import { afterAll, beforeAll, describe } from 'vitest'
import { type InstanceWorld, startLabInstance } from '../../contracts/instance-world.js'
import { describeServiceNowRefusals } from '../../contracts/servicenow-refusals.suite.js'

describe('on the lab', () => {
  let world: InstanceWorld
  beforeAll(async () => {
    world = await startLabInstance()
  })
  afterAll(async () => await world[Symbol.asyncDispose]())
  describeServiceNowRefusals(() => world, 'all')
})
