// @module-tag long
import { describeIdentity } from '../../contracts/identity.suite.js'
import { describeOnLab } from '../../contracts/on-the-lab.js'

describeOnLab('Elasticsearch 9', {}, [describeIdentity])
