/** Loads one range at a time over each of its connections. Opens a connection when it is first needed. */
import { rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { openClusterItself } from '../../../route/connect/open-target.js'
import { type Failure, isSluiceError } from '../../../base/failure/failure.js'
import { addCounts, nothing } from '../../../pipeline/ledger/account.js'
import type { Receipt } from '../../../pipeline/ledger/receipt.js'
import type { IngestOptions } from '../../../options/ingest-options.js'
import type { IngestEvent } from '../../../options/run-events.js'
import { loadOf, readConnecting } from '../../../options/read-options.js'
import { checkIngestOptions } from '../../../options/check-options.js'
import type { Feature, OpenConnection } from '../../../run/loop/hooks.js'
import { openSlots } from '../../../pipeline/bulk/slots.js'
import type { SenderOptions } from '../../../route/sender/sender.js'
import { BudgetShare } from '../budget/budget-share.js'
import type { RangeData, RangeReceipt } from '../job.js'
import type { JobLimits } from '../budget/budgets.js'
import type { RangeLoads } from './load-parts.js'
import { RangeLetters } from './range-letters.js'

export interface RangeLoading {
  /** Options of the job, with the access of this worker. */
  readonly options: Omit<IngestOptions, 'source'>
  /** Name of the job: it makes the ids. */
  readonly job: string
  /** Folder for dead letters. */
  readonly folder: string
  readonly loads: RangeLoads
  readonly limits: JobLimits
  /** Most requests of the job at the same time, which share a rate. */
  readonly sharing: number
  readonly heard: (range: string, event: IngestEvent) => void
  /** Throws SluiceError if this worker may not load the range. */
  readonly check?: (range: RangeData) => void
}

/** The events while a range is loaded. */
export interface RangeWatch {
  readonly permit: NonNullable<SenderOptions['permit']>
  readonly signal: AbortSignal
  busy(): void
  blocked(failure: Failure): void
  unblocked(): void
}

export interface LoadedRange {
  readonly receipt: RangeReceipt
  readonly failure?: Failure
}

export class RangeLoader {
  readonly #given: RangeLoading
  readonly #free: OpenConnection[] = []
  readonly #open: OpenConnection[] = []
  /** A first answer is looked into item by item, which costs as much as a megabyte of documents. One is enough for a job. */
  #knowsPlaces = false
  #isLookedAt = false
  readonly #letters: RangeLetters
  readonly #shares = new WeakMap<OpenConnection, BudgetShare>()

  constructor(given: RangeLoading) {
    this.#given = given
    this.#letters = new RangeLetters(given.folder)
  }

  /** Throws SluiceError if the cluster cannot be reached at all. */
  async load(id: string, range: RangeData, watch: RangeWatch): Promise<LoadedRange> {
    this.#given.check?.(range)
    const warn = (message: string) => this.#given.heard(id, { type: 'warning', message })
    const connection = this.#free.pop() ?? (await this.#connect(watch.signal, warn))
    try {
      return await this.#loadOver(connection, id, range, watch)
    } finally {
      this.#free.push(connection)
    }
  }

  async close(): Promise<void> {
    for (const connection of this.#open) {
      await connection.cluster.route.destroy()
      this.#shares.get(connection)?.close()
      connection.slots[Symbol.dispose]()
    }
    await this.#given.loads[Symbol.asyncDispose]()
    await this.#given.limits.bytes?.leave()
    await this.#letters[Symbol.asyncDispose]()
  }

  async #connect(signal: AbortSignal, warn: (message: string) => void): Promise<OpenConnection> {
    // The first connection finds out whether all addresses are let through.
    const isFirst = !this.#isLookedAt
    this.#isLookedAt = true
    try {
      return await this.#connectWith(isFirst ? {} : { preflightConnections: 1 }, signal, warn)
    } catch (error) {
      if (isFirst) this.#isLookedAt = false
      throw error
    }
  }

  async #connectWith(
    more: { readonly preflightConnections?: number },
    signal: AbortSignal,
    warn: (message: string) => void,
  ): Promise<OpenConnection> {
    const options = { ...this.#given.options, ...more, concurrency: 1, source: [] }
    const { connecting, batching, retrying } = loadOf(options, checkIngestOptions(options))
    const { bytes } = this.#given.limits
    const share = bytes && (await BudgetShare.open(bytes, connecting.preflightConnections))
    const opening = (route: OpenConnection['cluster']['route']) => share?.watch(route)
    const hears = { opening, patience: { maxElapsedMs: retrying.maxElapsedMs, warn } }
    const connected = openClusterItself(readConnecting({ ...options, signal }), signal, hears)
    const { cluster, way } = await connected.catch((error: unknown) => {
      share?.close()
      throw error
    })
    const connection = { cluster, way, slots: openSlots(connecting, batching) }
    this.#open.push(connection)
    share?.opened(cluster.route)
    if (share !== undefined) this.#shares.set(connection, share)
    return connection
  }

  async #loadOver(connection: OpenConnection, id: string, range: RangeData, watch: RangeWatch): Promise<LoadedRange> {
    const { options, job, loads, heard, limits, sharing } = this.#given
    const written = await this.#letters.newFile(id)
    const before = connection.cluster.route.traffic
    const onEvent = (event: IngestEvent) => {
      heard(id, event)
      if (event.type === 'retry' && isBusy(event.failure)) watch.busy()
      if (event.type === 'blocked') watch.blocked(event.failure)
      if (event.type === 'unblocked') watch.unblocked()
    }
    const given = {
      ...options,
      index: range.index,
      concurrency: 1,
      deadLetters: written,
      signal: watch.signal,
      onEvent,
    }
    const share = this.#shares.get(connection)
    const { permit } = watch
    const feature: Feature = ({ stop }) => {
      const budget = share?.limit(why => stop.end(why))
      const limited = budget === undefined ? {} : { budget }
      return { sending: { permit, knowsPlaces: this.#knowsPlaces, ...limited } }
    }
    const { plan } = limits
    const perSecond = plan && (() => plan.use.perSecond / sharing)
    const { receipt, failure } = await toReceipt(
      loads.load(given, { run: job, ranges: range.inputs }, { feature, connection, perSecond }),
    )
    share?.settle()
    if (receipt === undefined) throw failure
    this.#knowsPlaces ||= receipt.created > 0
    const hasLetters = receipt.rejected > 0 && receipt.deadLetters !== undefined
    const path = hasLetters ? await this.#letters.keep(id, written) : undefined
    await rm(written, { force: true })
    const { sent, received } = trafficSince(connection, before)
    return {
      receipt: {
        ...accountOf(receipt),
        bytes: { read: receipt.bytes.read, sent, received },
        host: hostname(),
        ...(path === undefined ? {} : { deadLetters: path }),
      },
      ...(receipt.failure === undefined ? {} : { failure: receipt.failure }),
    }
  }
}

/** A gateway before the cluster may say so, too. */
function isBusy({ code, evidence }: Failure): boolean {
  return code === 'CLUSTER_OVERLOADED' || evidence['status'] === 429
}

type Ran =
  | { readonly receipt: Receipt; readonly failure?: never }
  | { readonly receipt?: never; readonly failure: Error }

async function toReceipt(loading: Promise<Receipt>): Promise<Ran> {
  try {
    return { receipt: await loading }
  } catch (error) {
    if (isSluiceError(error) && error.receipt !== undefined) return { receipt: error.receipt as Receipt }
    return { failure: error as Error }
  }
}

function trafficSince(
  { cluster: { route } }: OpenConnection,
  before: OpenConnection['cluster']['route']['traffic'],
): { readonly sent: number; readonly received: number } {
  const { bytesSent, bytesReceived } = route.traffic
  return { sent: bytesSent - before.bytesSent, received: bytesReceived - before.bytesReceived }
}

function accountOf(receipt: Receipt): Omit<RangeReceipt, 'bytes' | 'host'> {
  const { rejections, requests, retries, elapsedMs } = receipt
  return { counts: addCounts(nothing, receipt), rejections, requests, retries, elapsedMs }
}
