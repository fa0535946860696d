import { describeMixedVerdicts } from '../contracts/mixed.suite.js'
import { describeAlarm } from './describe-alarm.js'
import { describeOnRealServers } from './on-real-servers.js'
import { describeTables } from './describe-tables.js'

// With servers of its own, it runs beside the contracts of Elasticsearch 9.
describeOnRealServers({ major: 9 }, world => {
  describeTables(world)
  describeMixedVerdicts(world, 'quick')
  describeAlarm(world)
})
