import { describeOnLab } from '../../contracts/on-the-lab.js'

describeOnLab('Elasticsearch 8, addresses chosen as Squid does', { version: '8.19.8', egressPer: 'upstream' })
