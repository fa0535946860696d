/** Takes hits apart, as elasticdump and answers of `_search` have them: the document is in `_source`, its id and routing beside it. */
import { LINE_FEED, endOfLine } from '../../../base/text/bytes.js'
import { jsonLines } from '../json-lines.js'
import { ActionWriter, type Address, type Range, addressProblem } from './action-writer.js'
import type { IndexPattern } from '../../../base/text/index-pattern.js'
import { ObjectFields } from '../../../base/json/parse-json.js'
import { indexBeside } from './index-beside.js'
import { topObjects } from './top-objects.js'

/**
 * Reads one hit from each line, or from each JSON object if these stand otherwise. A line that is no hit is a refused line.
 * `pattern`: makes the name of an index of that of the hit. Throws SluiceError after all whole hits: INPUT_TRUNCATED, INPUT_MALFORMED.
 */
export async function* dumpLines(
  input: string,
  bytes: AsyncIterable<Uint8Array>,
  pattern?: IndexPattern,
): AsyncGenerator<Uint8Array> {
  const hits = new Hits(pattern)
  for await (const piece of topObjects(input, bytes)) {
    if (piece.problem === undefined) yield* hits.read(piece.lines)
    else yield* hits.refuse(piece.problem, piece.lines)
  }
}

/** Reads the hits of each answer of a search: one JSON document, or several. Throws as `jsonLines`. */
export async function* answerLines(
  input: string,
  bytes: AsyncIterable<Uint8Array>,
  pattern?: IndexPattern,
): AsyncGenerator<Uint8Array> {
  const hits = new Hits(pattern)
  let rest: Buffer[] = []
  for await (const chunk of jsonLines(input, bytes, 'hits.hits')) {
    const lines = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    // A long hit comes in pieces.
    const end = lines.lastIndexOf(LINE_FEED) + 1
    if (end > 0) {
      yield* hits.read(rest.length === 0 ? lines.subarray(0, end) : Buffer.concat([...rest, lines.subarray(0, end)]))
      rest = []
    }
    if (end < lines.length) rest.push(Buffer.from(lines.subarray(end)))
  }
}

interface Unusable extends Address {
  readonly problem: string
}

class Hits {
  readonly #fields = new ObjectFields()
  readonly #writer = new ActionWriter()
  readonly #pattern: IndexPattern | undefined

  constructor(pattern: IndexPattern | undefined) {
    this.#pattern = pattern
  }

  /** Yields a line that holds no hit, as a refused one. */
  refuse(problem: string, line: Buffer): Generator<Uint8Array> {
    this.#writer.refused(problem, [{ bytes: line, from: 0, to: line.length }])
    return this.#rest()
  }

  /** Yields the documents of these lines, each a valid JSON value. */
  *read(lines: Buffer): Generator<Uint8Array> {
    for (let from = 0; from < lines.length;) {
      const to = endOfLine(lines, from)
      const unusable = this.#hit(lines, from)
      if (unusable !== undefined) this.#writer.refused(unusable.problem, [{ bytes: lines, from, to: to - 1 }], unusable)
      from = to
      if (this.#writer.isFull) yield this.#writer.take()
    }
    yield* this.#rest()
  }

  *#rest(): Generator<Uint8Array> {
    const lines = this.#writer.take()
    if (lines.length > 0) yield lines
  }

  /** Writes the document of the hit that begins at `from`. Returns why it has none, and its address as far as that can be kept. */
  #hit(bytes: Buffer, from: number): Unusable | undefined {
    if (bytes[from] !== OPEN_OBJECT) return { problem: 'it is not an object' }
    const fields = this.#fields
    fields.read(bytes, from)
    const document = this.#value(bytes, SOURCE)
    const id = this.#value(bytes, ID)
    const routing = this.#value(bytes, ROUTING) ?? this.#value(bytes, PLAIN_ROUTING)
    const problem = addressProblem('_id', id) ?? addressProblem('_routing', routing)
    const index = this.#pattern && indexBeside(this.#value(bytes, INDEX), this.#pattern)
    const name = typeof index === 'object' ? undefined : index
    const known = problem === undefined ? { id, routing, index: name } : {}
    if (document === undefined) return { problem: 'it has no _source', ...known }
    if (bytes[document.from] !== OPEN_OBJECT) return { problem: 'its _source is not an object', ...known }
    if (problem !== undefined) return { problem }
    if (this.#hasParent(bytes, routing)) return { problem: 'it has _parent but no routing value', ...known }
    if (typeof index === 'object') return { problem: index.problem, ...known }
    this.#writer.add(known, document)
    return undefined
  }

  /** Returns where a value stands. Null is no value. */
  #value(bytes: Buffer, name: Buffer): Range | undefined {
    const fields = this.#fields
    const field = fields.find(bytes, name)
    if (field === -1) return undefined
    const from = fields.from[field] as number
    return bytes[from] === NULL ? undefined : { bytes, from, to: fields.to[field] as number }
  }

  /** Elasticsearch 5 and older stored a child beside its parent. */
  #hasParent(bytes: Buffer, routing: Range | undefined): boolean {
    return routing === undefined && this.#value(bytes, PARENT) !== undefined
  }
}

const OPEN_OBJECT = 0x7b
const NULL = 0x6e
const SOURCE = Buffer.from('_source')
const ID = Buffer.from('_id')
const INDEX = Buffer.from('_index')
const ROUTING = Buffer.from('_routing')
const PLAIN_ROUTING = Buffer.from('routing')
const PARENT = Buffer.from('_parent')
