import { suitesOfVersions } from '../contracts/suites.js'
import { describeDataStreams } from './describe-data-streams.js'
import { describeDeletions } from './describe-deletions.js'
import { describeWorld } from './describe-world.js'
import { describeOnRealServers } from './on-real-servers.js'

// One file for each version: a server starts once for all that is asked of it.
describeOnRealServers({ major: 9 }, world => {
  for (const suite of [describeWorld, ...suitesOfVersions, describeDeletions, describeDataStreams]) suite(world)
})
