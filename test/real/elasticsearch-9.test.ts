import { promisesOf } from '../contracts/promises.suite.js'
import { suitesOfVersions } from '../contracts/suites.js'
import { describeDataStreams } from './describe-data-streams.js'
import { describeDeletions } from './describe-deletions.js'
import { describeRehearsalsOfKeys } from './describe-rehearsal.js'
import { describeWorld } from './describe-world.js'
import { describeOnRealServers } from './on-real-servers.js'

// A server takes as much CPU to start as a hundred tests, so all contracts share one.
describeOnRealServers({ major: 9 }, world => {
  const more = [describeDeletions, describeDataStreams, describeRehearsalsOfKeys, promisesOf('lost', 'killed')]
  for (const suite of [describeWorld, ...suitesOfVersions, ...more]) suite(world)
})
