import type { Origin, Span } from '../flow.js'
import { LINE_FEED } from '../text/bytes.js'

/**
 * Tells where each document of a body came from. Worked out again from the body and its spans, and only for a body with errors:
 * documents of a span lie one behind the other in the input too. `aroundBytes` were put around each of them. Reads the body at once, so that it may change afterwards.
 */
export function origins(
  spans: readonly Span[],
  bytes: Uint8Array,
  documents: number,
  aroundBytes: number,
): (ordinal: number) => Origin {
  const ends = documentEnds(bytes, documents, aroundBytes)
  const firsts: number[] = []
  let first = 0
  for (const span of spans) {
    firsts.push(first)
    first += span.docs
  }
  let at = 0
  return ordinal => {
    if (ordinal < (firsts[at] ?? 0)) at = 0
    while (ordinal >= (firsts[at + 1] ?? Infinity)) at += 1
    const span = spans[at]
    if (span === undefined || ordinal >= documents) throw new RangeError(`no document ${ordinal} in this body`)
    const before = firsts[at] ?? 0
    const document = span.document + ordinal - before
    if (span.kind === 'elements') return { input: span.input.name, document }
    const offset = span.from + (ends[ordinal] ?? 0) - (ends[before] ?? 0)
    return { input: span.input.name, document, line: span.line + ordinal - before, offset }
  }
}

/** Bytes of all documents' lines before each, as they were read: without action lines and what was put around. */
function documentEnds(bytes: Uint8Array, documents: number, aroundBytes: number): Float64Array {
  const ends = new Float64Array(documents + 1)
  let at = 0
  for (let ordinal = 0; ordinal < documents; ordinal += 1) {
    const document = bytes.indexOf(LINE_FEED, at) + 1
    at = bytes.indexOf(LINE_FEED, document) + 1
    ends[ordinal + 1] = (ends[ordinal] ?? 0) + at - document - aroundBytes
  }
  return ends
}
