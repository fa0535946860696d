import type { LineRange, Lines, ReadMemory, Source } from '../../base/flow.js'
import { decode, type DecodeOptions } from '../../pipeline/format/decode.js'
import { cannotCut } from '../../pipeline/source/ranges.js'

interface Reading {
  readonly format: DecodeOptions
  readonly batcher: { readonly reading?: ReadMemory | undefined }
  readonly signal: AbortSignal
}

/** Returns the lines of a range. Throws SluiceError INPUT_MALFORMED if the input is not plain NDJSON, as far as its start shows. */
export async function linesOfRange(
  source: Source,
  { from, begin }: LineRange,
  { format, batcher, signal }: Reading,
): Promise<Lines> {
  // In the middle of NDJSON nothing is left to recognise.
  if (from > 0) return { kind: 'range', ...(await begin(signal, batcher.reading)) }
  const stored = source.open(signal, 0, undefined, batcher.reading)[Symbol.asyncIterator]()
  const lines = await decode(source, { [Symbol.asyncIterator]: () => stored }, format)
  if (lines.kind === 'lines') return lines
  await stored.return?.()
  throw cannotCut(source.name, 'it is not plain NDJSON')
}
