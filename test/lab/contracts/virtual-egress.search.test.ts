// @module-tag long
import { describeOnLab } from '../../contracts/on-the-lab.js'
import { allPairs, usualPair } from '../../contracts/options.js'
import { allSuites, suitesOfRoutes } from '../../contracts/suites.js'
import { rounds } from '../../support/rounds.js'

// The lab of Elasticsearch 8 has all pairs of proxy and scheme. With the searches, this one has them too.
const [suites, pairs] = rounds(0, 1) === 0 ? [suitesOfRoutes, usualPair] : [allSuites, allPairs]
describeOnLab('virtual egress', { virtualEgress: true }, suites, pairs)
