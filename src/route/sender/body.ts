/** Takes bodies apart. */
import {
  type BatchOperation,
  type Operation,
  type Script,
  bulkFormOf,
  operations,
  rowOf,
} from '../../base/operation.js'
import { LINE_FEED } from '../../base/text/bytes.js'
import type { Body } from './send.js'

export function ordinalOf(body: Body, item: number): number {
  return body.ordinals === undefined ? body.first + item : (body.ordinals[item] ?? 0)
}

/** Returns where each item starts, and where the last one ends. `items`: how many, from the first one on. Each has an action line and a document line. */
export function itemStarts(body: Body, items = body.items): Uint32Array {
  const starts = new Uint32Array(items + 1)
  let at = 0
  for (let item = 1; item <= items; item += 1) {
    at = body.bytes.indexOf(LINE_FEED, body.bytes.indexOf(LINE_FEED, at) + 1) + 1
    starts[item] = at
  }
  return starts
}

/** Returns an item's action line and document, without line ends. */
export function itemLines(body: Body, starts: Uint32Array, item: number): { action: Buffer; document: Buffer } {
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
export function keepItems(body: Body, items: ArrayLike<number>): Body {
  return gathered(body, items, body.bytes)
}

/** Returns the named items (ascending) in memory of their own. */
export function copyItems(body: Body, items: ArrayLike<number>): Body {
  return gathered(body, items)
}

function gathered(body: Body, items: ArrayLike<number>, into?: Buffer): Body {
  const starts = itemStarts(body)
  const list = Array.from(items)
  const bytes = list.reduce((sum, item) => sum + (starts[item + 1] ?? 0) - (starts[item] ?? 0), 0)
  const memory = into ?? Buffer.allocUnsafeSlow(bytes)
  let end = 0
  for (const item of list) end += body.bytes.copy(memory, end, starts[item], starts[item + 1])
  return {
    bytes: memory.subarray(0, end),
    items: list.length,
    first: 0,
    ordinals: Uint32Array.from(list, item => ordinalOf(body, item)),
  }
}

/** Returns the bytes of a request. For a deletion, these are only its action lines. */
export function requestBytes(body: Body, operation: BatchOperation): Buffer {
  if (bulkFormOf(operation).sendsDocument) return body.bytes
  const { bytes } = body
  const lines: Buffer[] = []
  for (let item = 0, from = 0; item < body.items; item += 1) {
    const document = bytes.indexOf(LINE_FEED, from) + 1
    const next = bytes.indexOf(LINE_FEED, document) + 1
    lines.push(bytes.subarray(from, isSentWithout(bytes, from) ? document : next))
    from = next
  }
  return Buffer.concat(lines)
}

const withoutDocument = operations
  .filter(operation => !rowOf(operation).sendsDocument)
  .map(operation => Buffer.from(bulkFormOf(operation).action))

function isSentWithout(bytes: Buffer, from: number): boolean {
  return withoutDocument.some(action => bytes.compare(action, 0, action.length, from, from + action.length) === 0)
}

/** Returns the operation of an item. Some of the same action differ only in what stands around the document: the longest counts. */
export function operationOf(of: BatchOperation, action: Buffer, document: Buffer): Operation {
  if (of !== 'mixed') return of
  const verb = action.toString('latin1', 2, action.indexOf('"', 2))
  return longestFirst.find(one => rowOf(one).verb === verb && isAround(rowOf(one), document)) ?? 'update'
}

const longestFirst = operations.toSorted((one, other) => lengthAround(other) - lengthAround(one))

function lengthAround(operation: Operation): number {
  const { opening, closing } = rowOf(operation)
  return opening.length + closing.length
}

function isAround({ opening, closing }: Pick<ReturnType<typeof rowOf>, 'opening' | 'closing'>, line: Buffer): boolean {
  const starts = line.subarray(0, opening.length).equals(Buffer.from(opening))
  return starts && line.subarray(line.length - closing.length).equals(Buffer.from(closing))
}

/** Returns a document without what its operation puts around it. */
export function documentIn(line: Buffer, operation: Operation, script?: Script): Buffer {
  const { opening, closing } = bulkFormOf(operation, { script })
  if (opening === '') return line
  return line.subarray(Buffer.byteLength(opening), line.lastIndexOf(closing))
}

interface Address {
  readonly _id?: string
  readonly _index?: string
  readonly routing?: string
}

/** Reads the address in an action line. */
export function addressIn(action: Buffer): Address {
  const line = JSON.parse(action.toString('utf8')) as Record<string, Address>
  return Object.values(line)[0] ?? {}
}
