/** Makes a missing index with a mapping that Sluice proposes from the first documents of the inputs. */
import type { Source } from '../../base/flow.js'
import { inShell, visible } from '../../base/text/shown.js'
import type { InputSection } from '../../options/load.js'
import { invalid } from '../../options/option-checks.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import type { Retrier, Run } from '../../run/loop/hooks.js'
import { fieldLimit } from './field-limit.js'
import { inferFrom } from './infer-mapping.js'
import { shownFields } from './say-proposal.js'

interface Making {
  readonly cluster: Cluster
  readonly run: Run
  /** Whether a missing index is made. */
  readonly makes: boolean
}

interface Proposing {
  readonly index: string
  /** Those of which something is left to load. */
  readonly sources: readonly Source[]
  readonly inputs: InputSection
  readonly retrying: Retrier
}

/** Leaves an index that exists as it is. Throws SluiceError OPTION_INVALID if an input can be read only once. */
export async function inferIndex({ cluster, run, makes }: Making, proposing: Proposing): Promise<void> {
  const { index, sources, inputs, retrying } = proposing
  const { format, pick, members, sheet, csv } = inputs
  const once = sources.find(
    ({ file, address, copy }) => (file === undefined && address === undefined) || copy !== undefined,
  )
  if (once !== undefined)
    throw invalid('mapping', `is 'infer', but ${once.name} can be read only once. Save it as a file`)
  const found = await retrying(async () => await cluster.indices.findWriter(index))
  if (found.problem !== undefined) throw invalid('mapping', `needs one index: ${found.problem}`)
  if (found.facts !== undefined)
    return run.tell({ type: 'mapping', index, message: `${index} exists, so its mapping stays as it is` })
  if (!makes) return
  const proposal = await inferFrom(sources, { format, pick, members, sheet, csv, sample: SAMPLE }, run.stop.signal)
  // A run that is stopped loads nothing.
  if (run.stop.signal.aborted || proposal.documents === 0) return
  const { mappings } = proposal
  const limit = fieldLimit(mappings)
  const settings = limit === undefined ? {} : { settings: { [LIMIT]: limit } }
  await retrying(async () => await cluster.indices.make(index, { mappings, ...settings }))
  run.tell({ type: 'mapping', index, message: `Sluice creates ${index} with ${shownFields(mappings)}` })
  if (limit !== undefined)
    run.tell({ type: 'mapping', index, message: `${index} needs many fields, so ${LIMIT} is ${limit}` })
  for (const message of proposal.notes) run.tell({ type: 'mapping', index, message })
  const offered = Object.entries(proposal.offered)
  if (offered.length === 0) return
  const columns = offered.map(([name]) => visible(name)).join(', ')
  const types = inShell(offered.map(([name, type]) => `${visible(name)}:${type}`).join(','))
  const message = `${index} keeps ${columns} as text. For other types, delete ${index}, and load again with --again --types ${types}`
  run.tell({ type: 'mapping', index, message })
}

const LIMIT = 'index.mapping.total_fields.limit'

/** Documents that are read of each input. */
const SAMPLE = 10_000
