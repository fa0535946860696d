import { describeFormats } from '../contracts/formats.suite.js'
import { describeIdentity } from '../contracts/identity.suite.js'
import { describeMixedVerdicts } from '../contracts/mixed.suite.js'
import { rounds } from '../support/rounds.js'
import { describeAlarm } from './describe-alarm.js'
import { describeDiagnosis } from './describe-diagnosis.js'
import { describeOnRealServers } from './on-real-servers.js'
import { describeSources } from './describe-sources.js'
import { describeTables } from './describe-tables.js'

// With servers of its own, it runs beside the contracts of Elasticsearch 9.
describeOnRealServers({ major: 9 }, world => {
  describeDiagnosis(world)
  describeSources(world)
  // The lab has all rows of the page.
  describeIdentity(world, rounds(0, 1) === 0 ? 'of the cluster' : 'all')
  describeFormats(world)
  describeTables(world)
  describeMixedVerdicts(world, 'quick')
  describeAlarm(world)
})
