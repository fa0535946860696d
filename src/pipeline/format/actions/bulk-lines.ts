/** Reads the body of a bulk request that somebody saved: an action line before each document. Each action keeps its operation. */
import { fail } from '../../../base/failure/failure.js'
import { endOfLine } from '../../../base/text/bytes.js'
import { isVerb, type Operation, operations, rowOf } from '../../../base/operation.js'
import { ActionWriter, type Range } from './action-writer.js'
import type { Condition } from '../../../base/text/condition.js'
import { type Action, readAction } from './bulk-action.js'
import { ObjectFields } from '../../../base/json/parse-json.js'
import type { IndexPattern } from '../../../base/text/index-pattern.js'
import { topObjects } from './top-objects.js'

/**
 * Writes a line for each action, together with its document. A line is refused if it is no action, or an action that Sluice cannot keep.
 * Throws SluiceError after all whole actions: INPUT_TRUNCATED if the last document is missing or cut off, INPUT_MALFORMED.
 */
export async function* bulkLines(
  input: string,
  bytes: AsyncIterable<Uint8Array>,
  pattern?: IndexPattern,
): AsyncGenerator<Uint8Array> {
  const pairs = new Pairs(pattern)
  let read = 0
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      read += chunk.length
      yield chunk
    }
  }
  for await (const { lines, problem, line } of topObjects(input, counted())) {
    if (problem === undefined) pairs.take(lines, line)
    else pairs.broken(lines, problem)
    const written = pairs.written()
    if (written.length > 0) yield written
  }
  if (pairs.isOpen) throw fail('INPUT_TRUNCATED', { input, encoding: '_bulk', bytes: read })
}

/** Puts actions and their documents together. */
class Pairs {
  readonly #fields = new ObjectFields()
  readonly #writer = new ActionWriter()
  readonly #pattern: IndexPattern | undefined
  /** An action whose document comes next. */
  #open: Action | undefined

  constructor(pattern: IndexPattern | undefined) {
    this.#pattern = pattern
  }

  get isOpen(): boolean {
    return this.#open !== undefined
  }

  /** Returns the lines since the last call, which are valid until more is taken. */
  written(): Buffer {
    return this.#writer.take()
  }

  /** Takes objects, each on a line. `first`: the number of the first line, if they follow each other. */
  take(lines: Buffer, first: number | undefined): void {
    let line = first
    for (let from = 0; from < lines.length;) {
      const end = endOfLine(lines, from)
      this.#object({ bytes: lines, from, to: end - 1 }, line)
      from = end
      if (line !== undefined) line += 1
    }
  }

  /** Takes a line that is no object. */
  broken(line: Buffer, problem: string): void {
    this.#refuse(problem, { bytes: line, from: 0, to: line.length })
  }

  #object(object: Range, line: number | undefined): void {
    const open = this.#open
    const action =
      open === undefined || mayBeAction(object) ? readAction(object, this.#fields, line, this.#pattern) : undefined
    if (open === undefined) {
      if (action === undefined) this.#refuse(`${at(line)}it is not an action line`, object)
      else this.#begin(action, object)
    } else if (action?.isKnown !== true || rowOf(open.operation).isPartial) this.#add(open, object)
    else {
      // Sluice never stores an action line as a document.
      this.#refuse(`${at(line)}the previous action has no document, because another action line follows it`)
      this.#begin(action, object)
    }
  }

  #begin(action: Action, object: Range): void {
    if (rowOf(action.operation).sendsDocument) {
      this.#open = kept(action, object)
      return
    }
    if (action.problem === undefined) this.#writer.add(action, NO_DOCUMENT)
    else this.#refuse(action.problem, object)
  }

  #add(action: Action, document: Range): void {
    const { operation } = action
    const part = rowOf(operation).isPartial
      ? this.#update(document, action.condition)
      : { operation, document, problem: undefined }
    const problem = action.problem ?? part.problem
    if (problem !== undefined) return this.#refuse(problem, document)
    this.#writer.add({ ...action, operation: part.operation }, part.document)
    this.#open = undefined
  }

  /** Takes the body of an update apart. Only what can be sent twice without another result is sent. */
  #update(
    body: Range,
    condition: Condition | undefined,
  ): { readonly operation: Operation; readonly document: Range; readonly problem?: string } {
    const fields = this.#fields
    const { bytes } = body
    fields.read(bytes, body.from)
    let document: Range | undefined
    let operation: Operation = 'update'
    for (let field = 0; field < fields.count; field += 1) {
      const [from, to] = [fields.from[field] as number, fields.to[field] as number]
      const name = fields.name(bytes, field)
      const value = bytes[from]
      if (name === 'doc' && value === OPEN_OBJECT) document = { bytes, from, to }
      else if (name === 'doc_as_upsert' && value === LETTER_T) operation = 'upsert'
      else if (!(name === 'doc_as_upsert' && value === LETTER_F) && !(name === 'detect_noop' && value === LETTER_T))
        return { operation, document: body, problem: `its update has ${name}. Sluice sends only doc and doc_as_upsert` }
    }
    if (document === undefined) return { operation, document: body, problem: 'its update has no doc' }
    if (condition !== undefined && !rowOf(operation).takes.includes(condition.kind))
      return {
        operation,
        document: body,
        problem: 'its update has doc_as_upsert, which Elasticsearch does not combine with if_seq_no',
      }
    return { operation, document }
  }

  /** Refuses what is open, with the line if there is one. */
  #refuse(problem: string, line?: Range): void {
    const open = this.#open
    this.#open = undefined
    const lines = [...(open === undefined ? [] : [open.line]), ...(line === undefined ? [] : [line])]
    // An action that Sluice cannot keep says nothing of the document.
    this.#writer.refused(problem, lines, open?.problem === undefined ? open : undefined)
  }
}

const OPEN_OBJECT = 0x7b
const LETTER_T = 0x74
const LETTER_F = 0x66
const NO_DOCUMENT = { bytes: Buffer.from('{}'), from: 0, to: 2 }
/** Few documents are as short. */
const LONGEST_ACTION_BYTES = 4096

/** Returns whether an object may be an action line: most documents are known by their first letter. */
function mayBeAction({ bytes, from, to }: Range): boolean {
  if (to - from > LONGEST_ACTION_BYTES) return false
  let at = from + 1
  while ((bytes[at] as number) <= 0x20) at += 1
  return ACTION_LETTERS.has(bytes[at + 1] as number)
}

/** Those that actions begin with. */
const ACTION_LETTERS = new Set(operations.filter(isVerb).map(verb => verb.charCodeAt(0)))

function at(line: number | undefined): string {
  return line === undefined ? '' : `line ${line}: `
}

/** Copies what the memory of the next lines would overwrite. */
function kept(action: Action, object: Range): Action {
  const bytes = Buffer.from(object.bytes.subarray(object.from, object.to))
  const moved = (range: Range | undefined) =>
    range === undefined ? undefined : { bytes, from: range.from - object.from, to: range.to - object.from }
  return { ...action, id: moved(action.id), routing: moved(action.routing), line: { bytes, from: 0, to: bytes.length } }
}
