import { rowOf } from '../../base/operation.js'
import { instanceOf, isTable, namedIn } from '../../options/names.js'
import type { IndexSeen } from '../../route/cluster/indices.js'
import { fail } from '../../base/failure/failure.js'
import type { Source } from '../../base/flow.js'
import type { ConnectSection, DocumentSection, InputSection, RetrySection, TableSection } from '../../options/load.js'
import type { Ledger } from '../../pipeline/ledger/ledger.js'
import type { Receipt } from '../../pipeline/ledger/receipt.js'
import type { BodiesHook, Composed, EndingHook, InputsHook, RouteHook, Run } from '../../run/loop/hooks.js'
import type { RunIdentity } from '../../run/state/resume/plan.js'
import { type Deletions, followDeletions } from './deletions.js'
import type { Checkpoint } from '../../run/state/checkpoint/checkpoint.js'
import type { LostIndices } from '../../run/state/resume/lost-index.js'
import type { OpenPlatform, Platform } from './open-platform.js'

export interface TableSections {
  readonly connecting: ConnectSection
  readonly inputs: InputSection
  readonly documents: DocumentSection
  readonly retrying: RetrySection
  readonly tables: TableSection
  readonly dryRun: boolean
}

/** Reads tables instead of files, and deletes documents of deleted rows if the load asks for that. */
export function readTables(sections: TableSections, open: OpenPlatform): Composed {
  const origin = instanceOf(sections.tables.servicenow)
  return { origin, feature: async run => await hookOf({ ...sections, origin }, run, open) }
}

interface Reading extends TableSections {
  readonly origin: string | undefined
}

async function hookOf(
  sections: Reading,
  run: Run,
  open: OpenPlatform,
): Promise<InputsHook & RouteHook & BodiesHook & EndingHook> {
  const { stop, tell } = run
  const { tables } = sections
  const platform = await open(tables, sections, message => tell({ type: 'warning', message }))
  const { sources } = platform
  let deletions: Deletions | undefined
  let unkept: Pick<Ledger, 'inputs'> | undefined
  return {
    identify: plain => identityOf(plain, sections),
    sources: () => sources,
    connected: async () =>
      await platform.probe(stop.signal).catch((error: unknown) => {
        throw stop.cause(error)
      }),
    prepare: async started => {
      if (!started.isKept) unkept = started.ledger
      deletions = followDeletions({ ...run, ...started, ...sections, instance: platform.instance })
      await deletions?.prepare()
    },
    told: ({ type }) => {
      if (type === 'progress' && unkept !== undefined) forgetRows(sources, unkept)
    },
    progress: inputs => {
      const current = inputs.at(-1)
      const total = sources.find(({ name }) => name === current?.name)?.cursor?.total
      return current === undefined || total === undefined ? {} : { rows: { read: current.read, total } }
    },
    complete: async loaded => await deletions?.complete(loaded),
    receipt: () => ({
      platform: platformOf(platform),
      ...(deletions === undefined ? {} : { deletions: deletions.receipt }),
    }),
    dispose: async () => await platform.instance[Symbol.asyncDispose](),
  }
}

function identityOf(plain: RunIdentity, { inputs, documents, origin }: Reading): RunIdentity {
  // A data stream drops its oldest indices without losing its identity.
  const readsChanges = rowOf(documents.op).repeat !== 'conflict'
  return {
    ...plain,
    sources: namedIn(inputs.source).map((name, at) => {
      return origin !== undefined && isTable(name) ? `${name} at ${origin}` : (plain.sources[at] ?? name)
    }),
    lost: async (last, seen, cluster) => (await plain.lost(last, seen, cluster)) ?? lostRows(last, seen, readsChanges),
    refuseIndex: (seen, index) => {
      if (readsChanges) refuseDataStream(documents.op, seen, index)
    },
  }
}

/**
 * Returns the earlier indices of the target if it has none of them any more: then it may lack all rows, and a run that
 * reads only changes would miss them.
 */
function lostRows({ target }: Checkpoint, seen: IndexSeen | undefined, readsChanges: boolean): LostIndices | undefined {
  if (seen === undefined) return undefined
  // The table may have had no row to store.
  if (seen.kind === 'missing') return { indices: [], isPart: false, startsAfresh: true }
  const { index, indexUuid, behind } = target
  const was = behind ?? (indexUuid === undefined ? undefined : [index])
  if (!readsChanges || was === undefined || (seen.kind !== 'name' && seen.kind !== 'index')) return undefined
  const now = seen.kind === 'name' ? seen.behind : [index]
  return was.some(name => now.includes(name)) ? undefined : { indices: was, isPart: false, startsAfresh: true }
}

/** Throws SluiceError OPTION_INVALID: a changed row replaces its document, which a data stream does not allow. */
function refuseDataStream(op: string, seen: IndexSeen | undefined, index: string): void {
  if (seen?.kind !== 'name' || !seen.behind.some(name => name.includes(`.ds-${index}-`))) return
  const ways = 'Load the table into an index, or keep the first version of each row with --op create --on-conflict skip'
  const problem = `is '${op}', but ${index} is a data stream, which accepts only new documents. ${ways}`
  throw fail('OPTION_INVALID', { option: 'op', problem })
}

/** Without a checkpoint no place is requested, so the table forgets the rows that it read. */
function forgetRows(sources: readonly Source[], { inputs }: Pick<Ledger, 'inputs'>): void {
  for (const { name, cursor } of sources) {
    const input = inputs.find(one => one.name === name)
    if (input !== undefined) cursor?.placeAt(input.read + 1)
  }
}

function platformOf({ instance, traffic }: Platform): NonNullable<Receipt['platform']> {
  const { connections, bytesSent: sent, bytesReceived: received } = traffic
  return { url: instance.display, connections, sent, received }
}
