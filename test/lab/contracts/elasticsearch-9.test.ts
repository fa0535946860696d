import { describeOnLab } from '../../contracts/on-the-lab.js'
import { usualPair } from '../../contracts/options.js'
import { ordinarySuites } from '../../contracts/suites.js'

// The long tests have the other suites, and all pairs of proxy and scheme on the other labs.
describeOnLab('Elasticsearch 9', {}, ordinarySuites, usualPair)
