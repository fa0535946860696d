/** Starts a run over an open connection: finds the run to resume or makes a new one, and reports the known facts. */
import type { Cluster } from '../../route/cluster/open-cluster.js'
import type { ResolvedTarget } from '../../route/connect/open-target.js'
import { SluiceError } from '../../base/failure/failure.js'
import { settledOf } from '../../pipeline/ledger/account.js'
import type { DeadLetters } from '../../pipeline/ledger/dead-letters.js'
import { lockCheckpoint, lockInCluster, refuseUndone } from '../state/runs/state-folder.js'
import { decode, type DecodeOptions } from '../../pipeline/format/decode.js'
import { findRun, type FoundRun } from '../state/resume/find-run.js'
import { openDeadLetters } from './open-dead-letters.js'
import type { Tell } from './hooks.js'
import type { LockedRun } from './locked-run.js'

export interface StartedRun {
  readonly way: ResolvedTarget
  /** The cluster without the limits of the run, for requests after its end. */
  readonly open: Cluster
  /** The same, within the run's time and budget. */
  readonly cluster: Cluster
  readonly found: FoundRun
  /** Opens the file of dead letters. The caller disposes of it. */
  openDeadLetters(): Promise<DeadLetters>
}

/** `decoding`: how inputs are decoded. Throws SluiceError: why the run cannot begin, or why it ended before it could. */
export async function startRun(
  run: LockedRun,
  open: Cluster,
  way: ResolvedTarget,
  decoding: () => DecodeOptions,
): Promise<StartedRun> {
  const { hooks, stop, locks } = run
  const notes: string[] = []
  for (const hook of hooks.all) notes.push(...((await hook.connected?.(open)) ?? []))
  const budget = hooks.all.find(({ sending }) => sending?.budget !== undefined)?.sending?.budget
  // Its small requests end with the requests of documents, and share their budget.
  const cluster = open.within({ givenUp: stop.givenUp, ...(budget === undefined ? {} : { budget }) })
  const uuid = open.preflight.info?.uuid
  if (locks !== undefined && uuid !== undefined && uuid !== '_na_') await lockInCluster(locks, uuid, run.identity.label)
  const found = await findOwnRun(run, cluster, decoding)
  const { plan } = found
  run.record.found(found)
  // An abort cut off some of the answers: conclude nothing from them.
  if (stop.signal.aborted) throw new SluiceError(stop.why(settledOf(plan.before.counts)))
  await locks?.name(plan.run)
  tellWhatIsKnown(run, { way, cluster, found, notes })
  return { way, open, cluster, found, openDeadLetters: async () => await openRunsDeadLetters(run, found) }
}

async function findOwnRun(run: LockedRun, cluster: Cluster, decoding: () => DecodeOptions): Promise<FoundRun> {
  const { sections, identity, sources, knownFrom, locks, stop, connection } = run
  const finding = findRun({
    state: sections.state,
    dryRun: sections.dryRun,
    signal: stop.signal,
    identity,
    sources,
    cluster,
    stateDir: knownFrom,
    token: connection?.token,
    linesOf: async source => {
      const bytes = source.file?.peek?.(stop.signal) ?? source.open(stop.signal)
      return await decode(source, bytes, decoding())
    },
    own: async path => {
      const input = sources[0]?.name ?? ''
      if (locks !== undefined) await lockCheckpoint(locks, { path, input, index: identity.label })
    },
    rely: async paths => {
      if (locks !== undefined)
        await refuseUndone(locks, paths, { input: sources[0]?.name ?? '', index: identity.label })
    },
  })
  return await finding.catch((error: unknown) => {
    throw stop.cause(error)
  })
}

async function openRunsDeadLetters(
  { sections, tell, given: { filesStay } }: LockedRun,
  { plan, target }: FoundRun,
): Promise<DeadLetters> {
  const isOver = plan.inputs.every(({ isLoaded }) => isLoaded)
  return await openDeadLetters(sections.documents, {
    dryRun: sections.dryRun,
    sources: plan.inputs.map(({ source }) => source),
    run: plan.run,
    // A run that has nothing left writes none, and somebody may be repairing them.
    before: isOver || sections.dryRun ? undefined : plan.continues?.deadLetters,
    index: target.index,
    filesStay,
    warn: message => tell({ type: 'warning', message }),
  })
}

interface Known extends Pick<StartedRun, 'way' | 'cluster' | 'found'> {
  readonly notes: readonly string[]
}

function tellWhatIsKnown(run: LockedRun, { way, cluster, found, notes }: Known): void {
  const { tell } = run
  tellPreflight(tell, cluster, [...way.notes, ...notes, ...found.notes, ...idNotes(run, found)])
  for (const message of [...cluster.warnings, ...found.warnings]) tell({ type: 'warning', message })
  for (const { source, isLoaded } of found.plan.inputs) if (isLoaded) tell({ type: 'loaded', name: source.name })
}

/** Says what `verify` and `undo` will be able to do, if only the inputs hold the ids. */
function idNotes({ sections: { documents, dryRun } }: LockedRun, { plan }: FoundRun): string[] {
  const left = plan.inputs.filter(({ isLoaded }) => !isLoaded).map(({ source }) => source)
  const { from } = documents.ids
  if (dryRun || left.length === 0 || from === 'run' || from === 'cluster') return []
  // Rows of tables and documents of other clusters have ids that everybody knows.
  if (left.some(({ cursor }) => cursor !== undefined)) return []
  const once = left.find(({ file, copy }) => file === undefined || copy !== undefined)
  return once === undefined
    ? ['verify and undo read the files again, because only they hold the ids: keep them as they are']
    : [`verify and undo will not know this run: ${once.name} cannot be read again, and only it holds the ids`]
}

function tellPreflight(tell: Tell, cluster: Cluster, notes: readonly string[]): void {
  const { preflight, route, display, egress } = cluster
  tell({
    type: 'preflight',
    cluster: display,
    ...(preflight.info === undefined ? {} : { version: preflight.info.version }),
    route: route.proxy === undefined ? 'direct' : `${route.form} through ${route.proxy}`,
    probes: preflight.probes,
    missChance: preflight.missChance,
    egress,
    notes,
  })
}
