import { allPairs, eachProxy } from '../contracts/options.js'
import { promisesOf } from '../contracts/promises.suite.js'
import { suitesOfVersions } from '../contracts/suites.js'
import { rounds } from '../support/rounds.js'
import { describeDataStreams } from './describe-data-streams.js'
import { describeDeletions } from './describe-deletions.js'
import { describeRehearsalsOfKeys } from './describe-rehearsal.js'
import { describeWorld } from './describe-world.js'
import { describeOnRealServers } from './on-real-servers.js'

// The lab has all pairs of proxy and scheme.
const [pairs, promises] =
  rounds(0, 1) === 0 ? [eachProxy, promisesOf('lost')] : [allPairs, promisesOf('lost', 'killed')]

// A server takes as much CPU to start as a hundred tests, so all contracts share one.
describeOnRealServers({ major: 9 }, world => {
  const more = [describeDeletions, describeDataStreams, describeRehearsalsOfKeys, promises]
  for (const suite of suitesOfVersions) suite(world, pairs)
  for (const suite of [describeWorld, ...more]) suite(world)
})
