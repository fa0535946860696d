import { promisesOf } from '../contracts/promises.suite.js'
import { longSuites } from '../contracts/suites.js'
import { describeDataStreams } from './describe-data-streams.js'
import { describeDeletions } from './describe-deletions.js'
import { describeRehearsalsOfKeys } from './describe-rehearsal.js'
import { describeWorld } from './describe-world.js'
import { describeOnRealServers } from './on-real-servers.js'

// With servers of its own, it runs beside the other contracts of Elasticsearch 9.
describeOnRealServers({ major: 9 }, world => {
  const more = [describeDeletions, describeDataStreams, describeRehearsalsOfKeys, promisesOf('lost', 'killed')]
  for (const suite of [describeWorld, ...longSuites, ...more]) suite(world)
})
