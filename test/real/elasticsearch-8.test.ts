import { suitesOfVersions } from '../contracts/suites.js'
import { describeDataStreams } from './describe-data-streams.js'
import { describeDeletions } from './describe-deletions.js'
import { describeWorld } from './describe-world.js'
import { describeOnRealServers } from './on-real-servers.js'

describeOnRealServers({ major: 8 }, world => {
  for (const suite of [describeWorld, ...suitesOfVersions, describeDeletions, describeDataStreams]) suite(world)
})
