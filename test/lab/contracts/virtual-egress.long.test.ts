// @module-tag long
import { describeOnLab } from '../../contracts/on-the-lab.js'
import { allSuites, suitesOfRoutes } from '../../contracts/suites.js'
import { rounds } from '../../support/rounds.js'

describeOnLab('virtual egress', { virtualEgress: true }, rounds(0, 1) === 0 ? suitesOfRoutes : allSuites)
