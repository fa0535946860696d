// @module-tag long
import { describeOnLab } from '../../contracts/on-the-lab.js'
import { describePromises } from '../../contracts/promises.suite.js'

describeOnLab('Elasticsearch 9', {}, [describePromises])
