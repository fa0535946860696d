import { afterAll, beforeAll, describe } from 'vitest'
import { describeDoctor } from '../contracts/doctor.suite.js'
import { describeDocuments } from '../contracts/documents.suite.js'
import { describeIds } from '../contracts/ids.suite.js'
import { startLabWorld } from '../contracts/lab-world.js'
import { describeRefusals } from '../contracts/refusals.suite.js'
import { describeReplay } from '../contracts/replay.suite.js'
import { describeRoutes } from '../contracts/routes.suite.js'
import { describeSwap } from '../contracts/swap.suite.js'
import { describeRuns } from '../contracts/runs.suite.js'
import type { World } from '../contracts/world.js'

const labs = [
  { name: 'Elasticsearch 9', options: {} },
  { name: 'Elasticsearch 8, addresses chosen as Squid does', options: { version: '8.19.8', egressPer: 'upstream' } },
  { name: 'virtual egress', options: { virtualEgress: true } },
] as const

for (const { name, options } of labs) {
  describe(`on the lab: ${name}`, () => {
    let world: World
    beforeAll(async () => {
      world = await startLabWorld(options)
    })
    afterAll(async () => await world[Symbol.asyncDispose]())
    describeRoutes(() => world)
    describeRefusals(() => world)
    describeDocuments(() => world)
    describeReplay(() => world)
    describeSwap(() => world)
    describeRuns(() => world)
    describeIds(() => world)
    describeDoctor(() => world)
  })
}
