import { afterAll, beforeAll, describe } from 'vitest'
import { type InstanceWorld, startRealInstance } from '../contracts/instance-world.js'
import { describeServiceNowRefusals } from '../contracts/servicenow-refusals.suite.js'
import { findParts, missingFor } from './servers/parts.js'

// No Elasticsearch is needed: what lacks for one is no reason to skip.
const missing = missingFor(
  { ...findParts(), missing: findParts().missing.filter(({ major }) => major === undefined) },
  9,
)
const isSkipped = missing.length > 0 && !process.env.CI
if (isSkipped) console.warn(`skipped: the platform behind real proxies: ${missing.join('; ')}`)

describe.skipIf(isSkipped)('behind Squid and microsocks', () => {
  let world: InstanceWorld | undefined
  beforeAll(async () => {
    world = await startRealInstance()
  })
  afterAll(async () => await world?.[Symbol.asyncDispose]())
  describeServiceNowRefusals(() => {
    if (world === undefined) throw new Error('not started yet')
    return world
  }, 'pairs')
})
