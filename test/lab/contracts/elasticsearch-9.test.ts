import { describeOnLab } from '../../contracts/on-the-lab.js'
import { somePairs } from '../../contracts/options.js'
import { suitesOfVersions } from '../../contracts/suites.js'

// The long tests have the other suite, and all pairs on labs that choose addresses otherwise.
describeOnLab('Elasticsearch 9', {}, suitesOfVersions, somePairs)
