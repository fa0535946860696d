// @module-tag long
import { describeOnLab } from '../../contracts/on-the-lab.js'
import { usualPair } from '../../contracts/options.js'
import { ordinarySuites, suitesOfVersions } from '../../contracts/suites.js'

const suites = suitesOfVersions.filter(suite => !ordinarySuites.includes(suite))
describeOnLab('Elasticsearch 9', {}, suites, usualPair)
