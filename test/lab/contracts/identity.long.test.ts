// @module-tag long
import { describeFormats } from '../../contracts/formats.suite.js'
import { describeIdentity } from '../../contracts/identity.suite.js'
import { describeOnLab } from '../../contracts/on-the-lab.js'

describeOnLab('Elasticsearch 9', {}, [describeIdentity, describeFormats])
