import { allPairs, usualPair } from '../contracts/options.js'
import {
  longSuites,
  suitesOfAnswers,
  suitesOfRoutes,
  suitesOfVersions,
  suitesOnOneVersion,
} from '../contracts/suites.js'
import { rounds } from '../support/rounds.js'
import { describeDataStreams } from './describe-data-streams.js'
import { describeDeletions } from './describe-deletions.js'
import { describeRehearsalsOfKeys } from './describe-rehearsal.js'
import { describeOnRealServers } from './on-real-servers.js'

// The proxies and the filter are those of Elasticsearch 9, whose tests check the way to the cluster.
const answers = [...suitesOfAnswers, ...longSuites, ...suitesOnOneVersion].filter(
  suite => !suitesOfRoutes.includes(suite),
)
const [suites, pairs] = rounds(0, 1) === 0 ? [answers, usualPair] : [suitesOfVersions, allPairs]
describeOnRealServers({ major: 8 }, world => {
  for (const suite of suites) suite(world, pairs)
  for (const suite of [describeDeletions, describeDataStreams, describeRehearsalsOfKeys]) suite(world)
})
