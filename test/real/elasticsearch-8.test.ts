import { suitesOfVersions } from '../contracts/suites.js'
import { describeDataStreams } from './describe-data-streams.js'
import { describeDeletions } from './describe-deletions.js'
import { describeRehearsalsOfKeys } from './describe-rehearsal.js'
import { describeWorld } from './describe-world.js'
import { describeOnRealServers } from './on-real-servers.js'

describeOnRealServers({ major: 8 }, world => {
  const suites = [describeWorld, ...suitesOfVersions, describeDeletions, describeDataStreams, describeRehearsalsOfKeys]
  for (const suite of suites) suite(world)
})
