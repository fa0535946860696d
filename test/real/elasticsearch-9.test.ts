import { describeDoctor } from '../contracts/doctor.suite.js'
import { describeDocuments } from '../contracts/documents.suite.js'
import { describeIdentity } from '../contracts/identity.suite.js'
import { describeIds } from '../contracts/ids.suite.js'
import { describeRefusals } from '../contracts/refusals.suite.js'
import { describeOperations } from '../contracts/operations.suite.js'
import { describeReplay } from '../contracts/replay.suite.js'
import { describeRoutes } from '../contracts/routes.suite.js'
import { describeSwap } from '../contracts/swap.suite.js'
import { describeRuns } from '../contracts/runs.suite.js'
import { describeMixedVerdicts } from '../contracts/mixed.suite.js'
import { describeAlarm } from './describe-alarm.js'
import { describeDiagnosis } from './describe-diagnosis.js'
import { describeDataStreams } from './describe-data-streams.js'
import { describeTables } from './describe-tables.js'
import { describeDeletions } from './describe-deletions.js'
import { describeWorld } from './describe-world.js'
import { describeOnRealServers } from './on-real-servers.js'

// One file for each version: a server starts once for all that is asked of it.
describeOnRealServers({ major: 9 }, world => {
  describeWorld(world)
  describeRoutes(world)
  describeRefusals(world)
  describeDocuments(world)
  describeReplay(world)
  describeOperations(world)
  describeSwap(world)
  describeRuns(world)
  describeIdentity(world)
  describeIds(world)
  describeDeletions(world)
  describeDoctor(world)
  describeDataStreams(world)
  describeTables(world)
  describeMixedVerdicts(world, 'quick')
  describeAlarm(world)
  describeDiagnosis(world)
})
