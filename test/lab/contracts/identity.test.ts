// @module-tag long
import { describeOnLab } from '../../contracts/on-the-lab.js'
import { suitesOfInputs } from '../../contracts/suites.js'

describeOnLab('Elasticsearch 9', {}, suitesOfInputs)
