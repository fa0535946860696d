import { wholeLines } from '../../pipeline/bulk/frame-lines.js'
import type { Lines } from '../../base/flow.js'
import { LINE_FEED } from '../../base/text/bytes.js'
import type { InputSection } from '../../options/load.js'
import type { Feature, Framing } from '../../run/loop/hooks.js'
import { frameRewritten, LineStarts, type RewrittenLines } from '../../run/loop/moved-lines.js'

/** Makes a document of each line of text, before others change documents. */
export function lineDocuments({ inputs }: { readonly inputs: Pick<InputSection, 'format'> }): Feature {
  return () =>
    inputs.format === 'text'
      ? {
          frame: (framing, _ledger, inner) => frameRewritten(inner(framing), (_, lines) => asDocuments(lines, framing)),
        }
      : undefined
}

function asDocuments(lines: Lines, framing: Framing): RewrittenLines {
  // Only these stood so in the input.
  const isPlain = lines.kind === 'lines'
  const starts = isPlain ? new LineStarts(lines.at, lines.line ?? 1) : undefined
  return {
    starts,
    lines: { ...lines, kind: isPlain ? 'edited' : lines.kind, bytes: documentsOf(lines.bytes, framing, starts) },
  }
}

/** Lines do not wait here, so they are never late. */
const MOST_MS = 2 ** 31 - 1

async function* documentsOf(
  bytes: AsyncIterable<Uint8Array>,
  { maxDocumentBytes: maxLineBytes, clock }: Framing,
  starts: LineStarts | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const piece of wholeLines(bytes, { maxLineBytes, lateMs: MOST_MS, clock })) {
    if (piece.kind === 'late') continue
    if (piece.kind === 'long') {
      const passed = Buffer.from(piece.bytes)
      starts?.pass(passed)
      yield passed
      continue
    }
    // A line that is cut off is read again when the input is whole.
    if (piece.kind === 'tail' && piece.broken) continue
    if (piece.kind === 'tail') {
      // If it grows, its rest is a line of its own: a document that was stored does not change.
      starts?.add(piece.bytes.length, true)
      yield Buffer.concat([documents(piece.bytes), LINE_END])
      continue
    }
    starts?.addAll(endsOf(piece.bytes))
    if (piece.bytes.length > 0) yield documents(piece.bytes)
  }
}

const LINE_END = Buffer.from('\n')

function endsOf(bytes: Buffer): Uint32Array {
  const ends: number[] = []
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) ends.push(at + 1)
  return Uint32Array.from(ends)
}

/** Writes lines as JSON. Read as Latin-1, bytes that are no UTF-8 stay as they are, and the next stage rejects their line. */
function documents(lines: Buffer): Buffer {
  const texts = lines.toString('latin1').split('\n')
  return Buffer.from(texts.map(documentOf).join('\n'), 'latin1')
}

function documentOf(line: string): string {
  // Blank lines are no documents.
  return line.trim() === '' ? '' : `{"message":${JSON.stringify(line.endsWith('\r') ? line.slice(0, -1) : line)}}`
}
