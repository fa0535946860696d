/** The way is open. Before a document is read: the run is found that these inputs belong to, and what is known is told. */
import { SluiceError } from '../failure/sluice-error.js'
import type { Cluster } from '../cluster/open-cluster.js'
import { settledOf } from '../ledger/account.js'
import { lockCheckpoint } from '../state/checkpoint-lock.js'
import type { ResolvedTarget } from '../connect/open-target.js'
import { bindCluster } from './bind-cluster.js'
import { type MeteredWire, meterWire } from './budgets.js'
import { type FoundRun, findRun } from '../state/find-run.js'
import { tellPreflight } from './listener.js'
import { intoOf } from './open-dead-letters.js'
import type { Run } from './run.js'

export interface Begun {
  readonly way: ResolvedTarget
  /** As it was opened: for what is asked when all else is over. */
  readonly open: Cluster
  /** The same, within the run's time and budget. */
  readonly cluster: Cluster
  readonly wire: MeteredWire | undefined
  readonly found: FoundRun
  /** What there is to tell of the platform that tables are read from. */
  readonly platformNotes: readonly string[]
}

/** Throws SluiceError: why the run cannot begin, or why it ended before it could. */
export async function begin(run: Run, open: Cluster, way: ResolvedTarget): Promise<Begun> {
  const { options, replaying, ending, sources, locks, platform } = run
  const probed = platform?.probe(ending.signal).catch((error: unknown) => {
    throw ending.cause(error)
  })
  const platformNotes = (await probed) ?? []
  const wire = options.byteBudget === undefined ? undefined : meterWire(options.byteBudget, open, ending)
  const cluster = bindCluster(open, ending.givenUp, wire?.budget)
  const own = async (path: string) => {
    const input = sources[0]?.name ?? ''
    if (locks !== undefined) await lockCheckpoint(locks, { path, input, index: intoOf(options) })
  }
  const found = await findRun(options, sources, cluster, replaying, own, run.standing?.token).catch(
    (error: unknown) => {
      throw ending.cause(error)
    },
  )
  const { plan } = found
  // What the abort cut off was not seen: nothing is to be concluded from it.
  if (ending.signal.aborted) throw new SluiceError(ending.why(settledOf(plan.before.counts)))
  await locks?.name(plan.run)
  const begun = { way, open, cluster, wire, found, platformNotes }
  tellWhatIsKnown(run, begun)
  return begun
}

function tellWhatIsKnown({ tell }: Run, { way, cluster, found, platformNotes }: Begun): void {
  tellPreflight(tell, cluster, [...way.notes, ...platformNotes, ...found.notes])
  for (const message of [...cluster.warnings, ...found.warnings]) tell({ type: 'warning', message })
  for (const { source, isLoaded } of found.plan.inputs) if (isLoaded) tell({ type: 'loaded', name: source.name })
}
