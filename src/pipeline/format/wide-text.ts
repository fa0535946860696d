import { LINE_FEED, endOfLine, mayBeRefusedLine } from '../../base/text/bytes.js'
import type { Lines } from '../../base/flow.js'
import { toUtf8 } from './to-utf8.js'

/** UTF-16, as PowerShell writes it. */
export type Wide = 'utf-16le' | 'utf-16be'

/** Yields the text as UTF-8. */
export async function* fromWide(bytes: AsyncIterable<Uint8Array>, wide: Wide): AsyncGenerator<Uint8Array> {
  const convert = toUtf8(wide)
  for await (const chunk of bytes) yield convert(chunk, false)
  yield convert(new Uint8Array(0), true)
}

/** Returns the lines of a text that was converted: offsets in it are none in the input. */
export function rewritten(lines: Lines, wide: Wide): Lines {
  const encoding = wide === 'utf-16le' ? 'UTF-16LE' : 'UTF-16BE'
  const found = lines.found === undefined ? `${encoding} text` : `${encoding}, ${lines.found}`
  if (lines.kind !== 'lines') return { ...lines, found }
  return { ...lines, kind: 'elements', at: 0, found, bytes: plainLines(lines.bytes) }
}

/** Yields lines that nobody takes for lines that a format refused. The last one gets a line end. */
async function* plainLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isEnded = true
  for await (const chunk of bytes) {
    if (chunk.length === 0) continue
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    for (let from = 0; from < text.length;) {
      const to = endOfLine(text, from)
      if (isEnded && mayBeRefusedLine(text, from)) yield BLANK
      yield text.subarray(from, to)
      isEnded = text[to - 1] === LINE_FEED
      from = to
    }
  }
  if (!isEnded) yield LINE_END
}

const BLANK = Buffer.from(' ')
const LINE_END = Buffer.from('\n')
