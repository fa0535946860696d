import { inspect } from 'node:util'
import { isObject, type JsonObject, parseObject } from '../../base/json/parse-json.js'

interface BulkError {
  readonly type: string
  readonly reason: string
  /** The index that refused the document, if the request asked for it. */
  readonly index?: string
}

/** The result of one item of a bulk request, as far as the answer has it in the expected form. */
export interface BulkItem {
  /** The operation of its action line: `index`, `create`, `update` or `delete`. */
  readonly action: string
  readonly status: number | undefined
  readonly error: BulkError | undefined
  /** The result for the document, if the request asked for it. */
  readonly result: string | undefined
  readonly failureStore: string | undefined
  readonly id: string | undefined
  readonly index: string | undefined
}

/** Reads the results in an answer one by one. Parsed all at once, those of rejected documents take several times their bytes. */
export class BulkItems implements Iterable<BulkItem> {
  readonly #bytes: Buffer
  /** Each result ends there. It begins one byte, a comma, behind the end of the one before. */
  readonly #ends: Uint32Array

  /** `ends` begins with the place before the first result. */
  constructor(bytes: Buffer, ends: Uint32Array) {
    this.#bytes = bytes
    this.#ends = ends
  }

  get length(): number {
    return this.#ends.length - 1
  }

  at(item: number): BulkItem {
    const text = this.#bytes.toString('utf8', (this.#ends[item] ?? 0) + 1, this.#ends[item + 1])
    return resultIn(text)
  }

  *[Symbol.iterator](): Iterator<BulkItem> {
    for (let item = 0; item < this.length; item += 1) yield this.at(item)
  }

  /** Returns these results (ascending), without the memory of the others. */
  only(items: ArrayLike<number>): BulkItems {
    if (items.length === this.length) return this
    const texts = Array.from(items, item => this.#bytes.subarray(this.#ends[item], this.#ends[item + 1]))
    const ends = new Uint32Array(texts.length + 1)
    for (const [at, { length }] of texts.entries()) ends[at + 1] = (ends[at] ?? 0) + length
    return new BulkItems(Buffer.concat(texts), ends)
  }
}

/** Returns the results in the answer to a bulk request. Returns undefined if it has none or cannot be read. */
export function itemsIn(answer: Buffer): BulkItems | undefined {
  const found = cut(answer)
  if (found !== undefined) return found
  // Nothing but white space and the order of fields may differ from what Elasticsearch writes.
  const items = parseObject(answer)?.['items']
  return Array.isArray(items) ? cut(Buffer.from(JSON.stringify({ items }))) : undefined
}

const OPENING = /^\{(?:"\w+":(?:\d+|true|false),)*"items":\[/

/** Returns whether an answer says of itself that every result is a success. */
export function isWithoutErrors(answer: Buffer): boolean {
  return answer.subarray(0, 64).includes('"errors":false')
}

/** Returns the one result in an answer if all of its results are the same text. Compares memory, and reads no result but the first. */
export function sameResult(answer: Buffer, items: number): string | undefined {
  const from = answer.subarray(0, 128).indexOf(ITEMS) + ITEMS.length
  const to = from < ITEMS.length ? undefined : endOfObject(answer, from)
  if (to === undefined) return undefined
  const length = items * (to - from + 1) - 1
  if (answer.length < from + length + 1 || answer[from + length] !== CLOSING_BRACKET) return undefined
  const first = answer.toString('latin1', from, to)
  if (repeated.first !== first || repeated.bytes.length < length)
    repeated = { first, bytes: Buffer.alloc(length * 2, `${first},`, 'latin1') }
  return repeated.bytes.compare(answer, from, from + length, 0, length) === 0
    ? answer.toString('utf8', from, to)
    : undefined
}

const ITEMS = '"items":['
/** The results of the last answer: those of the next one are often the same. */
let repeated = { first: '', bytes: Buffer.alloc(0) }

/** Reads one result. */
export function resultIn(text: string): BulkItem {
  return readItem(parseObject(text))
}

/** Reads all results in an answer once. Parsed at once, they cost less CPU, and without errors little memory. */
export function resultsIn(answer: Buffer): Iterable<BulkItem> {
  if (!isWithoutErrors(answer)) return itemsIn(answer) ?? []
  const items = parseObject(answer)?.['items']
  return Array.isArray(items) ? each(items) : []
}

function* each(items: readonly unknown[]): Generator<BulkItem> {
  for (const item of items) yield readItem(item)
}

/** Finds where each item ends, in an answer as Elasticsearch writes it. */
function cut(answer: Buffer): BulkItems | undefined {
  const [opening] = OPENING.exec(answer.toString('latin1', 0, 128)) ?? []
  if (opening === undefined) return undefined
  let at = opening.length
  const ends = [at - 1]
  while (answer[at] !== CLOSING_BRACKET || ends.length > 1) {
    const end = endOfObject(answer, at)
    if (end === undefined) return undefined
    ends.push(end)
    at = end
    if (answer[end] !== COMMA) break
    at += 1
  }
  const around = parseObject(opening + answer.toString('latin1', at))
  return Array.isArray(around?.['items']) && around['items'].length === 0
    ? new BulkItems(answer, Uint32Array.from(ends))
    : undefined
}

function endOfObject(bytes: Buffer, from: number): number | undefined {
  if (bytes[from] !== OPENING_BRACE) return undefined
  let depth = 0
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfText(bytes, at)
    else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) depth += 1
    else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return undefined
}

/** Returns the place of the closing quote. */
function endOfText(bytes: Buffer, from: number): number {
  let at = from + 1
  for (; at < bytes.length && bytes[at] !== QUOTE; at += 1) if (bytes[at] === BACKSLASH) at += 1
  return at
}

const COMMA = 0x2c
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d
const OPENING_BRACKET = 0x5b
const CLOSING_BRACKET = 0x5d

function readItem(item: unknown): BulkItem {
  const [action, found] = (isObject(item) ? Object.entries(item)[0] : undefined) ?? ['', undefined]
  const { status, error, result, failure_store: store, _id: id, _index: index } = isObject(found) ? found : none
  return {
    action,
    status: typeof status === 'number' ? status : undefined,
    error: error == null ? undefined : readError(error),
    result: textIn(result),
    failureStore: textIn(store),
    id: textIn(id),
    index: textIn(index),
  }
}

const none: JsonObject = {}

function readError(error: unknown): BulkError {
  if (!isObject(error)) return { type: 'error', reason: asText(error) }
  const index = textIn(error['index'])
  return {
    type: textIn(error['type']) ?? 'error',
    reason: [asText(error['reason']), ...causesOf(error)].join(': '),
    ...(index === undefined ? {} : { index }),
  }
}

/** Returns the causes that were asked for, the nearest first. */
function causesOf({ caused_by: cause }: JsonObject): string[] {
  if (!isObject(cause)) return []
  const reason = textIn(cause['reason'])
  return [...(reason === undefined ? [] : [reason]), ...causesOf(cause)]
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Returns a reason, whatever its form. */
function asText(reason: unknown): string {
  if (typeof reason === 'string') return reason
  return reason == null ? 'no reason given' : inspect(reason, { breakLength: Infinity })
}
