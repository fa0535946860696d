/** The ids of a run that took them from fields. They stand only in its inputs, so these are read again. */
import type { Batch, Lines, LongLine, Origin, Source } from '../../base/flow.js'
import { isSluiceError } from '../../base/failure/failure.js'
import { parseObject } from '../../base/json/parse-json.js'
import { LINE_FEED } from '../../base/text/bytes.js'
import { isPath } from '../../base/text/source-url.js'
import { systemClock } from '../../base/time/clock.js'
import { MAX_DOCUMENT_BYTES } from '../../options/check-options.js'
import { Batcher } from '../../pipeline/bulk/batcher.js'
import { SlotPool } from '../../pipeline/bulk/slots.js'
import { decode } from '../../pipeline/format/decode.js'
import { findSources } from '../../pipeline/source/open-sources.js'
import type { Checkpoint, CheckpointInput } from '../../run/state/checkpoint/checkpoint.js'
import type { InputIds, Sought } from './run-ids.js'
import type { RecordedLoad } from './verify-options.js'

/** Returns why the inputs of a run cannot be read as they were loaded. Undefined: they can. */
export async function whyNotReadable({ inputs }: Checkpoint): Promise<string | undefined> {
  for (const input of inputs) {
    const path = pathOf(input)
    if (path === undefined) return `${input.name} cannot be read again`
    const sum = await sumOf(path, input.file?.bytes ?? 0)
    if (sum === undefined) return `${path} is no longer there, or cannot be read`
    if (sum !== input.file?.sum) return `${path} has changed since`
  }
  return undefined
}

/** A file, and no copy that Sluice made. */
function pathOf({ file, copy }: CheckpointInput): string | undefined {
  const path = file?.path
  return path !== undefined && isPath(path) && copy === undefined && file?.old === undefined ? path : undefined
}

/** Returns the checksum of the first bytes of a file. Undefined if it has fewer, or cannot be read. */
async function sumOf(path: string, bytes: number): Promise<string | undefined> {
  try {
    const [source] = await findSources({ files: [path] }, {})
    const [sum] = (await source?.file?.sums([bytes])) ?? []
    return sum
  } catch (error) {
    if (isSluiceError(error)) return undefined
    throw error
  }
}

/**
 * Reads the settled documents of each input. A document that no load can send has no id. Throws SluiceError as a load does.
 */
export async function* idsInInputs(
  { inputs: recorded }: Checkpoint,
  inputs: readonly InputIds[],
  load: RecordedLoad,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<Sought> {
  for (const [at, { file }] of [...recorded].entries()) {
    const input = inputs[at]
    const [source] = await findSources({ files: [file?.path ?? ''] }, {})
    if (input !== undefined && source !== undefined) yield* idsIn(source, input, load, signal)
  }
}

/** One body is read while the ids of the other one are looked up. */
const BODIES = 2

async function* idsIn(
  source: Source,
  input: InputIds,
  { inputs: how, documents, batching }: RecordedLoad,
  signal: AbortSignal,
): AsyncGenerator<Sought> {
  using slots = new SlotPool(BODIES, batching.batchBytes)
  const tooLong: Origin[] = []
  const batcher = new Batcher({
    ...batching,
    operation: documents.op,
    ids: documents.ids,
    maxDocumentBytes: MAX_DOCUMENT_BYTES,
    slots,
    clock: systemClock,
    longLine: async (_, origin) => await Promise.resolve(passedOver(() => tooLong.push(origin))),
  })
  const { format, pick, members, csv } = how
  // With ids from fields, no load takes documents for hits of a dump.
  const lines: Lines = await decode(source, source.open(signal), { format, pick, members, csv, takesDumps: false })
  const settled = (found: readonly Sought[]) =>
    found.filter(({ number }) => number >= input.first && number <= input.last)
  for await (const batch of batcher.frame(source, input.token, lines)) {
    const found = soughtIn(batch, input)
    yield* settled(found)
    if (found.some(({ number }) => number > input.last)) return
  }
  const rest = batcher.rest()
  if (rest !== undefined) yield* settled(soughtIn(rest, input))
  yield* settled(tooLong.flatMap(origin => soughtAt(origin, input)))
}

/** Reads what is left of a line that is longer than any document may be. */
function passedOver(end: () => void): LongLine {
  const pass = async () => await Promise.resolve()
  return { write: pass, abandon: pass, end: async () => await Promise.resolve(end()) }
}

/** Returns the documents of a batch, and gives its memory back. */
function soughtIn(batch: Batch, input: InputIds): Sought[] {
  const { bytes, docs, refused } = batch
  const originOf = batch.origins()
  const found: Sought[] = [...refused].flatMap(({ origin }) => soughtAt(origin, input))
  let at = 0
  for (let ordinal = 0; ordinal < docs; ordinal += 1) {
    const end = bytes.indexOf(LINE_FEED, at)
    found.push(...soughtAt(originOf(ordinal), input, idIn(bytes.subarray(at, end))))
    at = bytes.indexOf(LINE_FEED, end + 1) + 1
  }
  batch.release()
  return found
}

function soughtAt({ document }: Origin, input: InputIds, id?: string): Sought[] {
  return document === undefined ? [] : [{ input, number: document, id }]
}

/** Returns the id in an action line. */
function idIn(line: Buffer): string | undefined {
  const [action] = Object.values(parseObject(line) ?? {}) as { readonly _id?: string }[]
  return action?._id
}
