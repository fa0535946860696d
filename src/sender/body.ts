/** Takes bodies apart, and collects what becomes of their documents. */
import { promisify } from 'node:util'
import type { ZlibOptions } from 'node:zlib'
import type { Failure } from '../failure/failure.js'
import type { Batch, Origin, Outcome, Refused, Rejected } from '../flow.js'
import { type Operation, bulkFormOf } from '../operation.js'
import { LINE_FEED } from '../text/bytes.js'
import type { Body, RefusedItem, Settled } from './send.js'

function ordinalOf(body: Body, item: number): number {
  return body.ordinals === undefined ? body.first + item : (body.ordinals[item] ?? 0)
}

/** Returns where each item starts, and where the last one ends. An item is an action line and a document line. */
export function itemStarts(body: Body): Uint32Array {
  const starts = new Uint32Array(body.items + 1)
  let at = 0
  for (let item = 1; item <= body.items; item += 1) {
    at = body.bytes.indexOf(LINE_FEED, body.bytes.indexOf(LINE_FEED, at) + 1) + 1
    starts[item] = at
  }
  return starts
}

/** Returns an item's action line and document, without line ends. */
function itemLines(body: Body, starts: Uint32Array, item: number): { action: Buffer; document: Buffer } {
  const from = starts[item] ?? 0
  const to = (starts[item + 1] ?? 0) - 1
  const between = body.bytes.indexOf(LINE_FEED, from)
  const end = body.bytes[to - 1] === 0x0d ? to - 1 : to
  return { action: body.bytes.subarray(from, between), document: body.bytes.subarray(between + 1, end) }
}

/** Returns the id that an item is sent with. */
export function idOfItem(body: Body, starts: Uint32Array, item: number): string | undefined {
  return addressIn(itemLines(body, starts, item).action)._id
}

/** Returns both halves, as views of the same memory. */
export function halves(body: Body): [Body, Body] {
  const items = body.items >> 1
  const middle = itemStarts(body)[items] ?? 0
  const part = (bytes: Buffer, first: number, count: number): Body => ({
    bytes,
    items: count,
    first: body.first + first,
    ...(body.ordinals === undefined ? {} : { ordinals: body.ordinals.subarray(first, first + count) }),
  })
  return [part(body.bytes.subarray(0, middle), 0, items), part(body.bytes.subarray(middle), items, body.items - items)]
}

/** Moves the named items (ascending) to the front of the body's memory; the others are overwritten. */
export function keepItems(body: Body, items: readonly number[]): Body {
  const starts = itemStarts(body)
  let end = 0
  for (const item of items) {
    const from = starts[item] ?? 0
    const to = starts[item + 1] ?? 0
    body.bytes.copyWithin(end, from, to)
    end += to - from
  }
  return {
    bytes: body.bytes.subarray(0, end),
    items: items.length,
    first: 0,
    ordinals: Uint32Array.from(items, item => ordinalOf(body, item)),
  }
}

/** Returns the bytes of a request: a deletion is its action line alone. */
export function requestBytes(body: Body, operation: Operation): Buffer {
  if (bulkFormOf(operation).sendsDocument) return body.bytes
  const lines: Buffer[] = []
  for (let item = 0, from = 0; item < body.items; item += 1) {
    const to = body.bytes.indexOf(LINE_FEED, from) + 1
    lines.push(body.bytes.subarray(from, to))
    from = body.bytes.indexOf(LINE_FEED, to) + 1
  }
  return Buffer.concat(lines)
}

/** Returns a document without what its operation puts around it. */
function documentIn(line: Buffer, operation: Operation): Buffer {
  const { opening, closing } = bulkFormOf(operation)
  if (opening === '') return line
  return line.subarray(Buffer.byteLength(opening), line.lastIndexOf(closing))
}

let gzip: ((bytes: Buffer, options: ZlibOptions) => Promise<Buffer>) | undefined

/** Compresses with gzip at level 1: higher levels cost more than twice the CPU for a sixth fewer bytes. */
export async function compress(bytes: Buffer): Promise<Buffer> {
  gzip ??= promisify((await import('node:zlib')).gzip)
  return await gzip(bytes, { level: 1, chunkSize: 1 << 20 })
}

const others = ['accepted', 'deleted', 'noop', 'notFound'] as const

/** Collects the outcomes of a batch's documents, until each has one. */
export class BatchOutcome {
  readonly #batch: Batch
  readonly #counts = { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, unsent: 0 }
  /** Outcomes that few loads have. */
  readonly #others = new Map<(typeof others)[number] | 'unanswered', number>()
  /** Documents that were sent. */
  readonly #rejected: Refused[] = []
  #originOf: ((ordinal: number) => Origin) | undefined
  #stop: Failure | undefined

  constructor(batch: Batch) {
    this.#batch = batch
  }

  get stopped(): boolean {
    return this.#stop !== undefined
  }

  settle(body: Body, settled: Settled, attempts: number): void {
    for (const name of ['created', 'updated', 'duplicate', 'skipped', 'unknown'] as const)
      this.#counts[name] += settled[name]
    for (const name of others) this.#add(name, settled[name] ?? 0)
    if (settled.refused.length > 0) this.#reject(body, settled.refused, attempts)
  }

  rejectAll(body: Body, refusal: Omit<RefusedItem, 'item'>, attempts: number): void {
    const refused = Array.from({ length: body.items }, (_, item) => ({ item, ...refusal }))
    this.#reject(body, refused, attempts)
  }

  /** Counts documents of a body that was not answered: `unknown` if it may have arrived. */
  leave(items: number, as: 'unsent' | 'unknown', stop?: Failure): void {
    this.#counts[as] += items
    if (as === 'unknown') this.#add('unanswered', items)
    this.#stop ??= stop
  }

  /** Has to be called before a body's bytes change: origins are computed from them. */
  rememberOrigins(): void {
    this.#originOf ??= this.#batch.origins()
  }

  outcome(): Outcome {
    const { refused, docs } = this.#batch
    return {
      docs: docs + refused.length,
      ...this.#counts,
      ...Object.fromEntries(this.#others),
      rejected: both(refused, this.#rejected),
      ...(this.#stop === undefined ? {} : { stop: this.#stop }),
    }
  }

  #add(name: (typeof others)[number] | 'unanswered', documents: number): void {
    if (documents > 0) this.#others.set(name, (this.#others.get(name) ?? 0) + documents)
  }

  #reject(body: Body, refused: readonly RefusedItem[], attempts: number): void {
    this.rememberOrigins()
    const starts = itemStarts(body)
    for (const { item, ...refusal } of refused) {
      const { action, document } = itemLines(body, starts, item)
      const { _id: id, routing } = addressIn(action)
      const ordinal = ordinalOf(body, item)
      const { addressed } = this.#batch
      this.#rejected.push({
        ...refusal,
        // Another batch will use this memory. The dead letter has to outlive it.
        document: Buffer.from(documentIn(document, this.#batch.operation)),
        operation: this.#batch.operation,
        ...(id === undefined ? {} : { id }),
        ...(routing === undefined ? {} : { routing }),
        ...(addressed === undefined ? {} : { destination: addressed.destination }),
        origin: (this.#originOf as (ordinal: number) => Origin)(ordinal),
        attempts: attempts + (addressed?.attempts(ordinal) ?? 0),
      })
    }
  }
}

/** Returns lines that were never sent, and behind them what was refused. */
function both(lines: Rejected, refused: readonly Refused[]): Rejected {
  if (lines.length === 0) return refused
  if (refused.length === 0) return lines
  return {
    length: lines.length + refused.length,
    *[Symbol.iterator]() {
      yield* lines
      yield* refused
    },
  }
}

function addressIn(action: Buffer): { readonly _id?: string; readonly routing?: string } {
  const line = JSON.parse(action.toString('utf8')) as Record<string, { _id?: string; routing?: string }>
  return Object.values(line)[0] ?? {}
}
