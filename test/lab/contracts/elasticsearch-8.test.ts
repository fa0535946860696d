// @module-tag long
import { describeOnLab } from '../../contracts/on-the-lab.js'
import { allPairs, eachProxy } from '../../contracts/options.js'
import { allSuites, suitesOfRoutes } from '../../contracts/suites.js'
import { rounds } from '../../support/rounds.js'

// What the cluster answers is tried on a real Elasticsearch 8, and here with the searches.
const [suites, pairs] = rounds(0, 1) === 0 ? [suitesOfRoutes, eachProxy] : [allSuites, allPairs]
describeOnLab(
  'Elasticsearch 8, addresses chosen as Squid does',
  { version: '8.19.8', egressPer: 'upstream' },
  suites,
  pairs,
)
