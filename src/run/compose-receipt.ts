import { explain } from '../failure/catalogue.js'
import type { Failure } from '../failure/failure.js'
import { sumOf, takenOf } from '../ledger/account.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Checkpoint } from '../state/checkpoint.js'
import type { Plan, PlannedInput } from '../state/plan.js'
import { exitOf, type InputReceipt, type Receipt } from '../ledger/receipt.js'
import { isoTime } from '../time/local-time.js'

/** Facts of the receipt in addition to the ledger's counts. */
export interface RunFacts extends Pick<Receipt, 'command' | 'target'> {
  readonly began: Date
  readonly plan: Pick<Plan, 'run' | 'inputs' | 'before'>
  readonly dryRun: boolean
  /** The ledger of this process. */
  readonly ledger: Ledger
  readonly cluster: {
    readonly display: string
    readonly egress: Readonly<Record<string, number>>
    readonly preflight: { readonly info?: { readonly name: string; readonly version: string } }
    readonly route: {
      readonly form: Receipt['route']['form']
      readonly proxy?: string | undefined
      readonly traffic: { readonly connections: number; readonly bytesSent: number; readonly bytesReceived: number }
    }
  }
  /** Fields that hooks add. */
  readonly more: Partial<Receipt>
  readonly deadLetters?: string
  readonly checkpoint?: string
  readonly notes: readonly string[]
  readonly requests: number
  readonly retries: number
  readonly bytesRead: number
  readonly elapsedMs: number
  readonly failure?: Failure
}

export function composeReceipt(facts: RunFacts): Receipt {
  const { plan, ledger, cluster, failure, deadLetters, checkpoint, command, target } = facts
  const thisProcess = ledger.counts
  const { counts, rejections } = sumOf(plan.before, ledger)
  const { route, preflight } = cluster
  return {
    run: plan.run,
    status: failure === undefined ? 'finished' : explain(failure.code).exit === 5 ? 'interrupted' : 'failed',
    ...(facts.dryRun ? { dryRun: true } : {}),
    command,
    began: isoTime(facts.began),
    ended: isoTime(new Date()),
    exit: exitOf({ ...counts, ...(failure === undefined ? {} : { failure }) }),
    target,
    ...(failure === undefined ? {} : { failure }),
    inputs: inputsOf(facts),
    ...counts,
    thisProcess,
    rejections,
    bytes: { read: facts.bytesRead, sent: route.traffic.bytesSent, received: route.traffic.bytesReceived },
    requests: facts.requests,
    retries: facts.retries,
    elapsedMs: Math.round(facts.elapsedMs),
    docsPerSecond: Math.round(takenOf(thisProcess) / Math.max(facts.elapsedMs / 1000, 0.001)),
    route: {
      form: route.form,
      ...(route.proxy === undefined ? {} : { proxy: route.proxy }),
      connections: route.traffic.connections,
    },
    egress: cluster.egress,
    cluster: {
      url: cluster.display,
      ...(preflight.info === undefined ? {} : { name: preflight.info.name, version: preflight.info.version }),
    },
    ...facts.more,
    ...(deadLetters === undefined ? {} : { deadLetters }),
    ...(facts.notes.length === 0 ? {} : { notes: facts.notes }),
    ...(checkpoint === undefined ? {} : { checkpoint }),
  }
}

/** Lists inputs that were loaded before, inputs that this process read, and in a dry run those that a load would refuse. */
function inputsOf({ plan, ledger, dryRun }: RunFacts): InputReceipt[] {
  const loadedBy = loaders()
  return plan.inputs.flatMap((input): InputReceipt[] => {
    const { source, isLoaded, read: before, from, place, refused } = input
    const planned = dryRun ? { plan: planOf(input) } : {}
    const by = loadedBy(input)
    if (isLoaded)
      return [{ name: source.name, status: 'finished', read: before, alreadyLoaded: true, ...by, ...planned }]
    if (refused !== undefined)
      return [{ name: source.name, status: 'unfinished', read: 0, ...by, ...planned, failure: refused }]
    const now = ledger.input(source.id)
    if (now === undefined) return []
    const since = place === undefined ? undefined : source.cursor?.since?.(place)
    return [
      {
        ...now,
        read: before + now.read,
        ...(from === undefined ? {} : { resumedAt: from.document }),
        ...(since === undefined ? {} : { since }),
        ...(dryRun ? by : {}),
        ...planned,
      },
    ]
  })
}

/** Names the run that loaded an input, once for all of its inputs. */
function loaders(): (input: PlannedInput) => Pick<InputReceipt, 'loadedBy'> {
  const known = new Map<Checkpoint, Pick<InputReceipt, 'loadedBy'>>()
  return ({ by, replaces }) => {
    const run = by ?? replaces
    if (run === undefined) return {}
    const named = known.get(run) ?? { loadedBy: { run: run.run, at: run.written } }
    known.set(run, named)
    return named
  }
}

function planOf({ isLoaded, from, place, replaces }: PlannedInput): NonNullable<InputReceipt['plan']> {
  if (isLoaded) return 'known'
  if (replaces !== undefined) return 'changed'
  return from === undefined && place === undefined ? 'new' : 'continues'
}
