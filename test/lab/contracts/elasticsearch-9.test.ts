import { describeOnLab } from '../../contracts/on-the-lab.js'
import { allPairs, somePairs } from '../../contracts/options.js'
import { allSuites } from '../../contracts/suites.js'
import { rounds } from '../../support/rounds.js'

// The long tests have all pairs, on labs that choose addresses otherwise.
describeOnLab('Elasticsearch 9', {}, allSuites, rounds(0, 1) === 0 ? somePairs : allPairs)
