/** A few stories of the model of the world. `npm run search:world -- --real` plays more. */
import { describe, expect, test } from 'vitest'
import type { RealWorld } from '../contracts/real-world.js'
import { fitRealServers } from '../world/real/not-drawn.js'
import { openRealServers } from '../world/real/servers.js'
import { search, tellOf } from '../world/search.js'
import { openStage } from '../world/stage.js'
import { findParts } from './servers/parts.js'

/** From this seed on, few stories have many ways and troubles. */
const FIRST = 2704
const FEW = 8

const isMissing = findParts().versitygw === undefined && !process.env.CI

export function describeStories(world: () => RealWorld): void {
  describe.skipIf(isMissing)('stories', () => {
    test(`${FEW} of them come to a good end`, async () => {
      const open = async () => await openStage(async () => await openRealServers(world()))
      const { found, stories } = await search({ seed: FIRST, stories: FEW, open, fit: fitRealServers })
      expect(found.map(tellOf)).toEqual([])
      expect(stories).toBe(FEW)
    })
  })
}
