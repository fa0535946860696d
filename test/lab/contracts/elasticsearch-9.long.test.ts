// @module-tag long
import { describeOnLab } from '../../contracts/on-the-lab.js'
import { usualPair } from '../../contracts/options.js'
import { longSuites } from '../../contracts/suites.js'

describeOnLab('Elasticsearch 9', {}, longSuites, usualPair)
