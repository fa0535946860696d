import { afterAll, beforeAll, describe } from 'vitest'
import { type RealWorld, type RealWorldOptions, startRealWorld } from '../contracts/real-world.js'
import { findParts, missingFor } from './servers/parts.js'

/**
 * Describes suites that share one world of real servers, started before them and stopped after them. Where a part is missing
 * they are skipped, with the reason; in CI they fail instead.
 */
export function describeOnRealServers(options: RealWorldOptions, suites: (world: () => RealWorld) => void): void {
  const parts = findParts()
  const missing = missingFor(parts, options.major)
  const name = `on real servers, Elasticsearch ${parts.elasticsearch[options.major].version}`
  if (missing.length > 0 && !process.env.CI) {
    console.warn(
      `skipped: ${name}\n${missing.map(line => `  ${line}\n`).join('')}  to install: node scripts/real/install.js`,
    )
    describe.skip(name, () => suites(() => unavailable('skipped')))
    return
  }
  describe(name, () => {
    let world: RealWorld | undefined
    beforeAll(async () => {
      if (missing.length > 0) throw new Error(`missing in CI: ${missing.join('; ')}`)
      world = await startRealWorld(options)
    })
    afterAll(async () => world?.[Symbol.asyncDispose]())
    suites(() => world ?? unavailable('not started yet'))
  })
}

function unavailable(why: string): never {
  throw new Error(`the world of real servers is ${why}: ask for it inside a test or hook`)
}
