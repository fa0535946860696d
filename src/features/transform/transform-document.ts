/** Gives one document to the function, and writes what it returns. */
import type { DocumentPlace, TransformFunction } from '../../options/ingest-options.js'
import { readDocument } from './read-json.js'
import type { Spellings } from './spellings.js'
import { Untransformable } from './untransformable.js'
import { writeDocument } from './write-json.js'

export interface TransformLimits {
  /** Bytes of a document, and of all documents that one line becomes. */
  readonly maxBytes: number
  /** Name of the function's module in the stack of an error. */
  readonly module?: string | undefined
}

/** The documents that one became, or why it became none. */
export type Transformed = readonly Buffer[] | Untransformable

/** `text`: one JSON object. Returns a promise only if the function does. Never throws for the function. */
export function transformDocument(
  text: string,
  place: DocumentPlace,
  transform: TransformFunction,
  limits: TransformLimits,
): Transformed | Promise<Transformed> {
  try {
    const { document, spellings } = readDocument(text)
    const result: unknown = transform(document, place)
    if (!isThenable(result)) return written(result, spellings, limits)
    return Promise.resolve(result).then(
      settled => settledIn(settled, spellings, limits),
      (error: unknown) => reasonOf(error, limits),
    )
  } catch (error) {
    return reasonOf(error, limits)
  }
}

function settledIn(result: unknown, spellings: Spellings | undefined, limits: TransformLimits): Transformed {
  try {
    return written(result, spellings, limits)
  } catch (error) {
    return reasonOf(error, limits)
  }
}

function written(result: unknown, spellings: Spellings | undefined, { maxBytes }: TransformLimits): Buffer[] {
  if (result === null) return []
  if (result === undefined)
    throw new Untransformable('the function returned nothing. Return the document, or null to leave it out')
  const results: readonly unknown[] = Array.isArray(result) ? result : [result]
  const documents: Buffer[] = []
  let bytes = 0
  for (const one of results) {
    const document = Buffer.from(writeDocument(one, spellings, maxBytes))
    bytes += document.length
    if (bytes > maxBytes) throw new Untransformable(`the function returned more than ${maxBytes} bytes`)
    documents.push(document)
  }
  return documents
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/** More characters of an error would hide the rest of the record. */
const LONGEST_REASON = 300

/** Returns the reason behind what was thrown. */
function reasonOf(error: unknown, limits: TransformLimits): Untransformable {
  if (error instanceof Untransformable) return error
  return new Untransformable(`the function threw ${describeError(error, limits.module)}`)
}

/** Describes what was thrown in one line: name, message, and its line in the module. Whatever was thrown, this does not throw. */
export function describeError(error: unknown, module?: string): string {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    // oxlint-disable-next-line no-control-regex -- a reason stands on one line
    const line = text.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()
    const short = line.length > LONGEST_REASON ? `${line.slice(0, LONGEST_REASON)}…` : line
    return `${short}${placeIn(error, module)}`
  } catch {
    return 'something that cannot be shown'
  }
}

/** Returns the first place of the module in the stack. */
function placeIn(error: unknown, module: string | undefined): string {
  const stack = error instanceof Error ? error.stack : undefined
  if (module === undefined || stack === undefined) return ''
  const at = stack.indexOf(`${module}:`)
  const [, line] = /^:(\d+)/.exec(at === -1 ? '' : stack.slice(at + module.length)) ?? []
  return line === undefined ? '' : ` (line ${line} of the module)`
}
