import { promisesOf } from '../contracts/promises.suite.js'
import { suitesOfVersions } from '../contracts/suites.js'
import { rounds } from '../support/rounds.js'
import { describeDataStreams } from './describe-data-streams.js'
import { describeDeletions } from './describe-deletions.js'
import { describeRehearsalsOfKeys } from './describe-rehearsal.js'
import { describeWorld } from './describe-world.js'
import { describeOnRealServers } from './on-real-servers.js'

const promises = rounds(0, 1) === 0 ? promisesOf('lost') : promisesOf('lost', 'killed')

// A server takes as much CPU to start as a hundred tests, so all contracts share one.
describeOnRealServers({ major: 9 }, world => {
  const more = [describeDeletions, describeDataStreams, describeRehearsalsOfKeys, promises]
  for (const suite of [describeWorld, ...suitesOfVersions, ...more]) suite(world)
})
