import { describeAnotherCluster } from './another-cluster.suite.js'
import { describeCompared } from './compared.suite.js'
import { describeConditions } from './conditions.suite.js'
import { describeCopiedIndices } from './copied-indices.suite.js'
import { describeDoctor } from './doctor.suite.js'
import { describeDumps } from './dumps.suite.js'
import { describeDocuments } from './documents.suite.js'
import { describeFieldIds } from './field-ids.suite.js'
import { describeFollow } from './follow.suite.js'
import { describeFormats } from './formats.suite.js'
import { describeHidden } from './hidden.suite.js'
import { describeIdentity } from './identity.suite.js'
import { describeIndexByField } from './index-by-field.suite.js'
import { describeIds } from './ids.suite.js'
import { describeIdentifiers } from './identifiers.suite.js'
import { describeRefusals } from './refusals.suite.js'
import { describeOperations } from './operations.suite.js'
import { describePipelines } from './pipelines.suite.js'
import { describeReplay } from './replay.suite.js'
import { describeRoutes } from './routes.suite.js'
import { describeRuns } from './runs.suite.js'
import { describeMappedValues } from './mapped-values.suite.js'
import { describeMapping } from './mapping.suite.js'
import { describeRehearsal } from './rehearsal.suite.js'
import { describeTune } from './tune.suite.js'
import { describeScripts } from './scripts.suite.js'
import { describeSharedIndices } from './shared-indices.suite.js'
import { describeSearch } from './search.suite.js'
import { describeSwap } from './swap.suite.js'
import { describeVersions } from './versions.suite.js'
import type { Pair } from './options.js'
import type { World } from './world.js'

type Suite = (world: () => World, pairs?: readonly Pair[]) => void

/** What depends on the route to a cluster. */
export const suitesOfRoutes: readonly Suite[] = [describeRoutes, describeRefusals, describeDoctor]
/** What sends each version of the cluster the same requests. Without a search, only one real version tries each. */
export const suitesOnOneVersion: readonly Suite[] = [describeDumps, describeIndexByField]
/** What another version of the cluster may answer in another way. */
export const suitesOfAnswers: readonly Suite[] = [
  ...suitesOfRoutes,
  describeDocuments,
  describeReplay,
  describeOperations,
  describeVersions,
  describeMapping,
  describeMappedValues,
  describeRuns,
  describePipelines,
  describeHidden,
  describeIdentifiers,
  describeIds,
  describeFieldIds,
  describeAnotherCluster,
  describeSharedIndices,
  describeCopiedIndices,
  describeCompared,
]
/** What the ordinary run tries, so that it is short. */
export const ordinarySuites: readonly Suite[] = [
  describeRoutes,
  describeRefusals,
  describeDocuments,
  describeMappedValues,
  describeRuns,
  describePipelines,
  describeHidden,
  describeIdentifiers,
  describeAnotherCluster,
]
/** What else depends on the version. */
const longSuites: readonly Suite[] = [
  describeConditions,
  describeScripts,
  describeTune,
  describeRehearsal,
  describeFollow,
  describeSearch,
]
export const suitesOfVersions: readonly Suite[] = [
  ...suitesOfAnswers,
  describeSwap,
  ...suitesOnOneVersion,
  ...longSuites,
]
/** What depends on no version. */
export const suitesOfInputs: readonly Suite[] = [world => describeIdentity(world, 'all'), describeFormats]
export const allSuites: readonly Suite[] = [...suitesOfVersions, ...suitesOfInputs]
