import type { Lines, Source } from '../flow.js'
import { type Opening, readOpening } from './opening.js'
import { fail } from '../failure/fail.js'

/** `auto` is json if a path is picked, or if the input begins with `[` and is not named as NDJSON. Otherwise it is ndjson. */
export type Format = 'auto' | 'ndjson' | 'json'

export interface DecodeOptions {
  readonly format: Format
  /** Path of the array whose elements are the documents: keys and array positions, joined by dots. */
  readonly pick?: string | undefined
}

/**
 * Turns the bytes of an input into NDJSON. NDJSON stays as it is. JSON becomes one line for each element of its top-level arrays,
 * or of the picked array, and for each top-level value that is no array.
 *
 * The caller must iterate `bytes`, or at least call its iterator's `next` or `return`: until then the input stays open.
 * Throws SluiceError INPUT_MALFORMED for UTF-16 and UTF-32. The iterator throws everything else after all that was whole: the
 * source's own errors, INPUT_MALFORMED, INPUT_TRUNCATED.
 */
export async function decode(source: Source, bytes: AsyncIterable<Uint8Array>, options: DecodeOptions): Promise<Lines> {
  const { format, pick } = options
  const opening = await readOpening(bytes, format === 'auto' && pick === undefined)
  if (opening.encoding !== 'UTF-8') {
    await opening.close()
    const named = format === 'auto' ? 'ndjson' : format
    const problem = `it is ${opening.encoding} text: convert it to UTF-8`
    throw fail('INPUT_MALFORMED', { input: source.name, format: named, problem })
  }
  const { at } = opening
  if (!isJson(source.name, opening, options)) return { kind: 'lines', at, bytes: opening.bytes }
  // NDJSON does not need the parser.
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

/** Tells whether the name promises NDJSON. Items of an iterable are lines already, even if the first one is an array. */
function isNamedNdjson(name: string): boolean {
  return name === '(iterable)' || /\.(ndjson|jsonl)(\.gz)?$/i.test(name)
}
