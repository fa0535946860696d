import { describeFirstTries } from '../contracts/formats.suite.js'
import { allPairs, usualPair } from '../contracts/options.js'
import { suitesOfAnswers, suitesOfRoutes, suitesOfVersions, suitesOnOneVersion } from '../contracts/suites.js'
import { rounds } from '../support/rounds.js'
import { describeDataStreams } from './describe-data-streams.js'
import { describeDeletions } from './describe-deletions.js'
import { describeRehearsalsOfKeys } from './describe-rehearsal.js'
import { describeOnRealServers } from './on-real-servers.js'

// The way to the cluster, and the longer suites, are tried with Elasticsearch 9. With the searches, this one has all of them too.
const answers = [...suitesOfAnswers, ...suitesOnOneVersion].filter(suite => !suitesOfRoutes.includes(suite))
const [suites, pairs] = rounds(0, 1) === 0 ? [answers, usualPair] : [suitesOfVersions, allPairs]
describeOnRealServers({ major: 8 }, world => {
  for (const suite of suites) suite(world, pairs)
  for (const suite of [describeFirstTries, describeDeletions, describeDataStreams, describeRehearsalsOfKeys])
    suite(world)
})
