import type { Lines, Source } from '../flow.js'
import { type Opening, readOpening } from './opening.js'
import { fail } from '../failure/fail.js'

/** `auto`: json where a path is picked or the input begins with `[` and is not named as NDJSON; else ndjson. */
export type Format = 'auto' | 'ndjson' | 'json'

export interface DecodeOptions {
  readonly format: Format
  /** Keys (and array positions) joined by dots, that lead to the array whose elements are the documents. */
  readonly pick?: string | undefined
}

/**
 * What an input's bytes are as NDJSON: for NDJSON the very same bytes, for JSON a line for each element of its top-level
 * arrays, or of the picked one, and for each top-level value that is no array.
 *
 * Whoever calls must iterate `bytes`, or at least call its iterator's `next` or `return`: until then the input stays open.
 * Throws SluiceError INPUT_MALFORMED for UTF-16 and UTF-32; everything else is thrown by the iterator, after all that was
 * whole: the source's errors as they are, INPUT_MALFORMED, INPUT_TRUNCATED.
 */
export async function decode(source: Source, bytes: AsyncIterable<Uint8Array>, options: DecodeOptions): Promise<Lines> {
  const { format, pick } = options
  const opening = await readOpening(bytes, format === 'auto' && pick === undefined)
  if (opening.encoding !== 'UTF-8') {
    await opening.close()
    const named = format === 'auto' ? 'ndjson' : format
    const problem = `it is ${opening.encoding} text; convert it to UTF-8`
    throw fail('INPUT_MALFORMED', { input: source.name, format: named, problem })
  }
  const { at } = opening
  if (!isJson(source.name, opening, options)) return { kind: 'lines', at, bytes: opening.bytes }
  // The parser is of no use to NDJSON.
  const { jsonLines } = await import('./json-lines.js')
  return { kind: 'elements', at, bytes: jsonLines(source.name, opening.bytes, pick) }
}

function isJson(name: string, opening: Opening, { format, pick }: DecodeOptions): boolean {
  switch (format) {
    case 'json':
      return true
    case 'ndjson':
      return false
    case 'auto':
      return pick !== undefined || (opening.first === '['.charCodeAt(0) && !isNamedNdjson(name))
  }
}

/** The items of an iterable are lines already, also when the first one is an array. */
function isNamedNdjson(name: string): boolean {
  return name === '(iterable)' || /\.(ndjson|jsonl)(\.gz)?$/i.test(name)
}
