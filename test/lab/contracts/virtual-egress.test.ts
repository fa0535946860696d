// @module-tag search
import { describeOnLab } from '../../contracts/on-the-lab.js'

// The ordinary run has these suites on a lab that chooses its addresses in another way.
describeOnLab('virtual egress', { virtualEgress: true })
