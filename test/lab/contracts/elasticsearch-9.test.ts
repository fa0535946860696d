import { describeOnLab } from '../../contracts/on-the-lab.js'

describeOnLab('Elasticsearch 9', {})
