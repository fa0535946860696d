import type { Failure } from '../failure/failure.js'
import type { Ledger } from './ledger.js'
import type { Receipt } from './receipt.js'

/** What the receipt tells beside the ledger's own counts. */
export interface RunFacts {
  readonly run: string
  readonly ledger: Ledger
  readonly cluster: {
    readonly display: string
    readonly egress: Readonly<Record<string, number>>
    readonly preflight: { readonly info?: { readonly name: string; readonly version: string } }
    readonly route: {
      readonly form: Receipt['route']['form']
      readonly proxy?: string
      readonly traffic: { readonly connections: number; readonly bytesSent: number; readonly bytesReceived: number }
    }
  }
  readonly deadLetters?: string
  readonly requests: number
  readonly retries: number
  readonly bytesRead: number
  readonly elapsedMs: number
  readonly failure?: Failure
}

export function composeReceipt(facts: RunFacts): Receipt {
  const { ledger, cluster, failure, deadLetters } = facts
  const { counts } = ledger
  const { route, preflight } = cluster
  const stored = counts.created + counts.updated + counts.deleted + counts.noop + counts.duplicate
  return {
    run: facts.run,
    status: failure === undefined ? 'finished' : failure.code === 'RUN_INTERRUPTED' ? 'interrupted' : 'failed',
    ...(failure === undefined ? {} : { failure }),
    inputs: ledger.inputs,
    ...counts,
    thisProcess: counts,
    rejections: ledger.rejections,
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
    ...(deadLetters === undefined ? {} : { deadLetters }),
  }
}
