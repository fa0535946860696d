import { suitesOfInputs } from '../contracts/suites.js'
import { describeDiagnosis } from './describe-diagnosis.js'
import { describeOnRealServers } from './on-real-servers.js'
import { describeSources } from './describe-sources.js'

describeOnRealServers({ major: 9 }, world => {
  describeDiagnosis(world)
  describeSources(world)
  for (const suite of suitesOfInputs) suite(world)
})
