import { allSuites, describeOnLab, suitesOfRoutes } from '../../contracts/on-the-lab.js'
import { rounds } from '../../support/rounds.js'

describeOnLab('virtual egress', { virtualEgress: true }, rounds(0, 1) === 0 ? suitesOfRoutes : allSuites)
