// @module-tag long
import { describeOnLab } from '../../contracts/on-the-lab.js'
import { allSuites, suitesOfVersions } from '../../contracts/suites.js'
import { rounds } from '../../support/rounds.js'

const suites = rounds(0, 1) === 0 ? suitesOfVersions : allSuites
describeOnLab('Elasticsearch 8, addresses chosen as Squid does', { version: '8.19.8', egressPer: 'upstream' }, suites)
