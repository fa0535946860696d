import { explain } from '../failure/catalogue.js'
import type { Failure } from '../failure/failure.js'
import { sumOf } from '../ledger/account.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Plan } from '../state/plan.js'
import type { InputReceipt, Receipt } from '../ledger/receipt.js'

/** Facts of the receipt in addition to the ledger's counts. */
export interface RunFacts {
  readonly plan: Pick<Plan, 'run' | 'inputs' | 'before'>
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
  const { plan, ledger, cluster, failure, deadLetters, checkpoint } = facts
  const thisProcess = ledger.counts
  const { counts, rejections } = sumOf(plan.before, ledger)
  const { route, preflight } = cluster
  const { created, updated, deleted, noop, duplicate } = thisProcess
  const stored = created + updated + deleted + noop + duplicate
  return {
    run: plan.run,
    status: failure === undefined ? 'finished' : explain(failure.code).exit === 5 ? 'interrupted' : 'failed',
    ...(failure === undefined ? {} : { failure }),
    inputs: inputsOf(plan, ledger),
    ...counts,
    thisProcess,
    rejections,
    bytes: { read: facts.bytesRead, sent: route.traffic.bytesSent, received: route.traffic.bytesReceived },
    requests: facts.requests,
    retries: facts.retries,
    elapsedMs: Math.round(facts.elapsedMs),
    docsPerSecond: Math.round(stored / Math.max(facts.elapsedMs / 1000, 0.001)),
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

/** Lists inputs that were loaded before, and inputs that this process read. */
function inputsOf({ inputs }: RunFacts['plan'], ledger: Ledger): InputReceipt[] {
  return inputs.flatMap(({ source: { name, cursor }, isLoaded, read, from, place }): InputReceipt[] => {
    if (isLoaded) return [{ name, status: 'finished', read, alreadyLoaded: true }]
    const now = ledger.inputs.find(input => input.name === name)
    if (now === undefined) return []
    const since = place === undefined ? undefined : cursor?.since?.(place)
    return [
      {
        ...now,
        read: read + now.read,
        ...(from === undefined ? {} : { resumedAt: from.document }),
        ...(since === undefined ? {} : { since }),
      },
    ]
  })
}
