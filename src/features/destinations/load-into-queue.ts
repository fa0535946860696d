/**
 * Loads into Elastic's managed ingest endpoint. It queues documents, stores them later, and recognises no id: what is sent twice is
 * stored twice. It answers no question about indices.
 */
import { rowOf } from '../../base/operation.js'
import { needsCluster } from '../../route/connect/open-target.js'
import type {
  DocumentSection,
  GuardedSection,
  PreparationSection,
  StateSection,
  TableSection,
} from '../../options/load.js'
import { invalid } from '../../options/option-checks.js'
import type { Feature } from '../../run/loop/hooks.js'
import type { Plan } from '../../run/state/resume/plan.js'

interface Sections {
  readonly documents: DocumentSection
  readonly guarded: GuardedSection | undefined
  readonly preparing: PreparationSection
  readonly tables: TableSection | undefined
  readonly state: StateSection
}

export function loadIntoQueue(sections: Sections): Feature {
  const { resendUnknown } = sections.documents
  return () => {
    let isManaged = false
    return {
      identify: plain => ({
        ...plain,
        lastIndex: last => (isManaged ? undefined : plain.lastIndex(last)),
        plan: async planning => {
          const plan = await plain.plan(planning)
          if (isManaged && !resendUnknown) refuseDoubt(plan)
          return plan
        },
        get doubt() {
          return isManaged ? doubt : plain.doubt
        },
      }),
      connected: cluster => {
        isManaged = cluster.isManaged
        if (isManaged) refuseOptions(sections)
      },
      get sending() {
        return isManaged ? { ownIds: false, safeToResend: resendUnknown } : {}
      },
    }
  }
}

const doubt =
  'documents that Sluice was sending when the run stopped may be stored twice, because the managed ingest endpoint recognises no ids'

/** Throws SluiceError OPTION_INVALID if a resume would send documents that an earlier process may have sent. */
function refuseDoubt({ isDoubtful, run }: Plan): void {
  if (!isDoubtful) return
  const stored = `run ${run} stopped while it sent documents, and the managed ingest endpoint stores what is sent twice`
  throw invalid('resendUnknown', `is not set. ${stored}. Pass it to send those without an answer again`)
}

/** Throws SluiceError OPTION_INVALID for what the endpoint does not do, or does not promise to do. */
function refuseOptions({
  documents: { op, pipeline, routingField, indexPattern },
  guarded,
  preparing,
  tables,
  state,
}: Sections): void {
  if (tables !== undefined) throw needsCluster('source', 'holds a table, whose rows replace earlier documents')
  if (guarded !== undefined) throw needsCluster('swapAlias', 'makes an index and switches an alias')
  if (preparing.mapping !== undefined) throw needsCluster('mapping', 'is the mapping of an index')
  if (preparing.template !== undefined) throw needsCluster('template', 'is an index template')
  if (preparing.againstIndex) throw needsCluster('againstIndex', 'asks about an index')
  if (preparing.tune) throw needsCluster('tune', 'changes settings of an index')
  if (indexPattern !== undefined) throw needsCluster('index', 'names a field of the documents')
  if (!rowOf(op).takes.includes('queue')) throw needsCluster('op', `is '${op}'`)
  if (pipeline !== undefined) throw needsCluster('pipeline', 'names an ingest pipeline')
  if (state.runId !== undefined) throw needsCluster('runId', 'promises that a repeated run stores nothing twice')
  if (routingField !== undefined) throw needsCluster('routingField', 'sets routing values')
}

/** Refuses such an endpoint: a replay may send what is stored already, and only ids keep a second copy out. */
export const refuseQueue: Feature = () => ({
  connected: ({ isManaged }) => {
    if (isManaged) throw needsCluster('target.url', 'cannot take dead letters')
  },
})
