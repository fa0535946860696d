import { describeMixedVerdicts } from '../contracts/mixed.suite.js'
import { suitesOfInputs } from '../contracts/suites.js'
import { describeAlarm } from './describe-alarm.js'
import { describeDiagnosis } from './describe-diagnosis.js'
import { describeOnRealServers } from './on-real-servers.js'
import { describeSources } from './describe-sources.js'
import { describeTables } from './describe-tables.js'

// With servers of its own, it runs beside the contracts of Elasticsearch 9.
describeOnRealServers({ major: 9 }, world => {
  describeTables(world)
  describeMixedVerdicts(world, 'quick')
  describeAlarm(world)
  describeDiagnosis(world)
  describeSources(world)
  for (const suite of suitesOfInputs) suite(world)
})
