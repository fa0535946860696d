import { allPairs, eachProxy } from '../contracts/options.js'
import { promisesOf } from '../contracts/promises.suite.js'
import { suitesOfVersions, suitesOnOneVersion } from '../contracts/suites.js'
import { rounds } from '../support/rounds.js'
import { describeDataStreams } from './describe-data-streams.js'
import { describeDeletions } from './describe-deletions.js'
import { describeHiddenFromKeys } from './describe-hidden.js'
import { describeMoving } from './describe-moving.js'
import { describeRehearsalsOfKeys } from './describe-rehearsal.js'
import { describeStories } from './describe-stories.js'
import { describeWorld } from './describe-world.js'
import { describeOnRealServers } from './on-real-servers.js'

// The lab has all pairs of proxy and scheme, and Elasticsearch 8 has the suites of one version.
const isSearch = rounds(0, 1) === 1
const pairs = isSearch ? allPairs : eachProxy
const suites = suitesOfVersions.filter(suite => isSearch || !suitesOnOneVersion.includes(suite))
const promises = isSearch ? promisesOf('lost', 'killed') : promisesOf('lost')

// A server takes as much CPU to start as a hundred tests, so all contracts share one.
describeOnRealServers({ major: 9 }, world => {
  const more = [
    describeDeletions,
    describeDataStreams,
    describeHiddenFromKeys,
    describeMoving,
    describeRehearsalsOfKeys,
    promises,
  ]
  for (const suite of suites) suite(world, pairs)
  for (const suite of [describeWorld, describeStories, ...more]) suite(world)
})
