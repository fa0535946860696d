import { isUtf8 } from 'node:buffer'
import { fail } from '../../base/failure/failure.js'
import { copyInto } from '../../base/memory.js'
import { LINE_FEED } from '../../base/text/bytes.js'
import { type Cutter, INPUT_BYTES, JOINED_BYTES } from './cut.js'
import { giveBack, isCutOff, takeCutter } from './cutters.js'
import { type ElementLines, elements } from './elements.js'
import { tokensInto } from './tokens.js'
import { utf8Text } from './utf8-text.js'

/**
 * Writes each element of JSON documents as a line. Numbers keep their digits, duplicate keys stay, strings keep their value. Memory
 * holds some MiB, whatever the length of the input and of its elements.
 * Throws SluiceError after all whole elements: INPUT_MALFORMED, or INPUT_TRUNCATED if the JSON only ends too early.
 */
export async function* jsonLines(
  input: string,
  bytes: AsyncIterable<Uint8Array>,
  pick: string | undefined,
): AsyncGenerator<Uint8Array> {
  const cutter = takeCutter()
  try {
    yield* linesBy(cutter, input, bytes, pick)
  } finally {
    giveBack(cutter)
  }
}

/**
 * The cutter takes objects, as many as it can at once. The parser takes everything else: the path to the elements, elements that
 * are unusual, and what is broken. Which of them takes an element depends on the element only, not on the chunks: a resume
 * has to find the same lines.
 */
export async function* linesBy(
  cutter: Cutter,
  input: string,
  bytes: AsyncIterable<Uint8Array>,
  pick: string | undefined,
): AsyncGenerator<Uint8Array> {
  const found = elements(pick)
  const parser = tokensInto(found)
  const decoder = utf8Text()
  const { input: held } = cutter
  /** How much of the cutter's input is not taken yet, and how much of the bytes was before it. */
  let filled = 0
  let before = 0

  for await (const chunk of bytes) {
    for (let from = 0; from < chunk.length;) {
      const window = chunk.subarray(from, from + Math.min(JOINED_BYTES, INPUT_BYTES - filled))
      filled += copyInto(held, filled, window)
      from += window.length
      yield* take(false)
    }
  }
  yield* take(true)
  const end = parser.end()
  const last = found.take()
  if (last !== undefined) yield last
  if (end === 'malformed') throw malformed(`its end is not a JSON value, ${after(found)}`)
  if (end === 'truncated') throw fail('INPUT_TRUNCATED', { input, encoding: 'JSON', bytes: before })
  if (decoder.isCut) throw malformed('it ends in a byte that is not UTF-8')
  if (found.lacking.values > 0)
    throw fail('INPUT_MALFORMED', { input, format: 'json', problem: withoutPath(found, pick) })

  /** Takes what is held. Keeps an object that is cut off, if more can come. */
  function* take(isLast: boolean): Generator<Uint8Array> {
    let from = 0
    while (from < filled) {
      const { place } = parser
      if (place !== undefined) {
        const cut = cutter.cut(from, filled, place)
        const { objects, takenTo, lines } = isUtf8(held.subarray(from, cut.takenTo))
          ? cut
          : cutter.cut(from, filled, place, validLines(cut.lines))
        if (objects > 0) {
          parser.pass(objects)
          const earlier = found.take()
          if (earlier !== undefined) yield earlier
          yield lines
          from = takenTo
        }
        if (!isLast && takenTo === cut.takenTo && isCutOff(cutter, cut, from, filled)) break
        if (from === filled) break
      }
      const to = parser.endOfPiece(held, from, filled)
      const { text, isValid } = decoder.decode(held.subarray(from, to))
      const fault = parser.parse(text)
      if (fault !== undefined || !isValid) {
        const whole = found.take()
        if (whole !== undefined) yield whole
        if (fault === undefined) throw malformed(`bytes that are not UTF-8 before byte ${before + to}, ${after(found)}`)
        const problem = relaxedFault(held.toString('latin1', Math.max(0, from - NEAR_BYTES), to)) ?? fault.problem
        throw malformed(`${problem} near byte ${before + from}, ${after(found)}`, fault.cause)
      }
      from = to
    }
    const lines = found.take()
    if (lines !== undefined) yield lines
    held.copyWithin(0, from, filled)
    before += from
    filled -= from
  }

  function malformed(problem: string, cause?: unknown) {
    return fail('INPUT_MALFORMED', { input, format: 'json', problem: `is not valid json: ${problem}` }, { cause })
  }
}

/** White space before a fault may be long. */
const NEAR_BYTES = 256

/** Returns the name of what only other programs read, if the text near a fault shows it. */
function relaxedFault(near: string): string | undefined {
  const outside = near.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
  if (/(?:^|[\s,{}[\]:"\w])\/(?:[/*]|$)/.test(outside)) return 'a comment'
  return /,\s*[}\]]$/.test(outside) ? 'a comma before a closing bracket' : undefined
}

/** Counts the lines before the first one that is not UTF-8. */
export function validLines(lines: Buffer): number {
  for (let count = 0, from = 0; ; count += 1) {
    const to = lines.indexOf(LINE_FEED, from) + 1
    if (to === 0 || !isUtf8(lines.subarray(from, to))) return count
    from = to
  }
}

function withoutPath({ values, lacking }: ElementLines, pick = ''): string {
  if (values === 1) return `has no \`${pick}\`: its top level is ${lacking.kind}`
  return `has no \`${pick}\` in ${lacking.values} of its ${values} JSON documents. The first is number ${lacking.first}, ${lacking.kind}`
}

function after(found: ElementLines): string {
  return `after ${found.count} whole elements`
}
