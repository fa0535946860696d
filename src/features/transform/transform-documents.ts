import { basename } from 'node:path'
import { wholeLines } from '../../pipeline/bulk/frame-lines.js'
import type { Lines } from '../../base/flow.js'
import { MAX_DOCUMENT_BYTES } from '../../options/check-options.js'
import type { TransformSection } from '../../options/load.js'
import type { Feature, Framing } from '../../run/loop/hooks.js'
import { frameRewritten, LineStarts, namesOf, type RewrittenLines } from '../../run/loop/moved-lines.js'
import { endOfLine, LINE_FEED } from '../../base/text/bytes.js'
import { inOrder } from './in-order.js'
import { openTransform, type Transform } from './open-transform.js'
import type { LineJob } from './transform-lines.js'

/** Lets a function of the user's make other documents of those that were read, before they get their ids. */
export function transformDocuments({ transform: section }: { readonly transform: TransformSection }): Feature {
  return async ({ stop }) => {
    // What cannot be loaded is refused before anything is sent.
    const transform = await openTransform(section, MAX_DOCUMENT_BYTES)
    let names: ReadonlyMap<number, string> = new Map()
    return {
      identify: plain => ({ ...plain, options: { ...plain.options, transform: transform.checksum } }),
      prepare: async ({ found }) => {
        names = namesOf(found)
        await Promise.resolve()
      },
      frame: (framing, _ledger, inner) =>
        frameRewritten(inner(framing), (input, lines) =>
          transformed(lines, names.get(input.id) ?? input.name, transform, framing, stop.signal),
        ),
      dispose: async () => await transform.close(),
    }
  }
}

/** Given to the function together. */
const AT_ONCE_BYTES = 256 << 10

function transformed(
  lines: Lines,
  path: string,
  transform: Transform,
  framing: Framing,
  stop: AbortSignal,
): RewrittenLines {
  const isPlain = lines.kind === 'lines'
  const starts = isPlain ? new LineStarts(lines.at, lines.line ?? 1) : undefined
  const jobs = jobsOf(lines, path, framing, starts)
  // What was taken of an iterable is counted, also after a stop.
  const signal = path === '(iterable)' ? undefined : stop
  const start = (step: Step) => ('job' in step ? transform.start(step.job) : once(step.passed))
  const bytes = inOrder(jobs, start, { ahead: transform.ahead, signal })
  return { starts, lines: { ...lines, kind: isPlain ? 'edited' : lines.kind, hasParts: true, bytes } }
}

/** Lines to transform, or a piece of a line that is too long to be sent. */
type Step = { readonly job: LineJob } | { readonly passed: Uint8Array }

async function* jobsOf(
  { kind, bytes, line = 1, within = 0 }: Lines,
  path: string,
  { maxDocumentBytes: maxLineBytes, clock }: Framing,
  starts: LineStarts | undefined,
): AsyncGenerator<Step> {
  const how = { kind, path, file: path === '-' ? path : basename(path) }
  let number = line
  let settled = within
  // Lines do not wait here, so they are never late.
  for await (const piece of wholeLines(bytes, { maxLineBytes, lateMs: MOST_MS, clock })) {
    if (piece.kind === 'late') continue
    if (piece.kind === 'long') {
      // The reader takes its memory back.
      const passed = new Uint8Array(piece.bytes)
      starts?.pass(Buffer.from(passed.buffer))
      if (piece.ends) number += 1
      settled = 0
      yield { passed }
      continue
    }
    const isBroken = piece.kind === 'tail' && piece.broken
    for (let from = 0; from < piece.bytes.length;) {
      const near = piece.bytes.lastIndexOf(LINE_FEED, from + AT_ONCE_BYTES - 1) + 1
      const to = near > from ? near : endOfLine(piece.bytes, from)
      const some = new Uint8Array(piece.bytes.subarray(from, to))
      const ends = endsOf(some)
      if (piece.kind === 'tail') starts?.add(some.length, false)
      else starts?.addAll(ends)
      yield { job: { ...how, bytes: some, line: number, settled, isBroken } }
      settled = 0
      number += ends.length
      from = to
    }
  }
}

const MOST_MS = 2 ** 31 - 1

/** Returns the offsets behind the line ends. */
function endsOf(bytes: Uint8Array): Uint32Array {
  const ends: number[] = []
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) ends.push(at + 1)
  return Uint32Array.from(ends)
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes)
}
