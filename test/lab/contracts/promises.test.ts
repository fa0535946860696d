// @module-tag long
import { describeOnLab } from '../../contracts/on-the-lab.js'
import { describePromises, promisesOf } from '../../contracts/promises.suite.js'
import { rounds } from '../../support/rounds.js'

// Lost answers are tried on a real Elasticsearch, and here with the searches.
describeOnLab('Elasticsearch 9', {}, [rounds(0, 1) === 0 ? promisesOf('killed', 'again') : describePromises])
