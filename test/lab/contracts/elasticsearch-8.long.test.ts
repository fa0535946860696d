// @module-tag long
import { describeOnLab } from '../../contracts/on-the-lab.js'
import { allSuites, suitesOfAnswers } from '../../contracts/suites.js'
import { rounds } from '../../support/rounds.js'

// The long suites run on a real Elasticsearch 8, and here with the searches.
const suites = rounds(0, 1) === 0 ? suitesOfAnswers : allSuites
describeOnLab('Elasticsearch 8, addresses chosen as Squid does', { version: '8.19.8', egressPer: 'upstream' }, suites)
