import { describeOnLab } from '../../contracts/on-the-lab.js'

describeOnLab('virtual egress', { virtualEgress: true })
