/** Passes a last line without a line end that a run has read, once its line end was written behind it. */
import type { Mark, Source } from '../../../base/flow.js'
import { CARRIAGE_RETURN, isBlank, LINE_FEED } from '../../../base/text/bytes.js'

/** Returns the mark behind the line. Returns the same mark if the line has grown, or holds no document. */
export async function passTail(source: Source, mark: Mark): Promise<Mark> {
  const { kind, offset, tail } = mark
  if (tail === 0 || kind !== 'lines') return mark
  return passLineEnd(mark, await lineEndBehind(source, offset, tail))
}

/** Returns the mark behind the last line, with a line end of so many bytes. Returns the same mark without one. */
export function passLineEnd(mark: Mark, end: number): Mark {
  const { kind, document, line, offset, tail } = mark
  return end === 0 ? mark : { kind, document: document + 1, line: line + 1, offset: offset + tail + end, tail: 0 }
}

/** Returns the length of the line end after the first `bytes` of a line. Returns 0 if the line has grown, or is blank. */
async function lineEndBehind(source: Source, offset: number, bytes: number): Promise<number> {
  let isEmpty = true
  let passed = 0
  const behind: number[] = []
  for await (const chunk of source.open(new AbortController().signal, offset)) {
    const ofLine = Math.min(bytes - passed, chunk.length)
    isEmpty &&= isBlank(chunk, 0, ofLine)
    passed += ofLine
    behind.push(...chunk.subarray(ofLine, ofLine + 2))
    if (behind.length >= 2) break
  }
  // This does not count as reading of the load.
  source.file?.forget?.()
  const [first, second] = behind
  if (isEmpty) return 0
  return first === LINE_FEED ? 1 : first === CARRIAGE_RETURN && second === LINE_FEED ? 2 : 0
}
