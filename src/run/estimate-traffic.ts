/**
 * How many bytes a load will put on the wire, before it does: from the sizes of its files, and from samples of them that are
 * framed and compressed as the load would. An estimate, good to some percent where the documents are alike.
 */
import { isSluiceError } from '../failure/sluice-error.js'
import type { PlannedInput } from '../state/plan-run.js'
import { type Sample, type Sampling, sampleInput } from './sample-input.js'

/** So many inputs are sampled, spread over all of them. The sample of each is as large as the number allows. */
const SAMPLED_INPUTS = 16
const SAMPLE_BYTES = 1 << 20
const SMALLEST_SAMPLE_BYTES = 64 << 10
/** Headers of a bulk request and its answer, with their TLS records. */
const HEADER_BYTES = 800
/** What an answer says of a document that was stored. */
const ANSWER_BYTES = 26
const FRAMING_SHARE = 1 / 250

export interface Estimating extends Sampling {
  readonly inputs: readonly PlannedInput[]
  readonly batchDocs: number
  /** Connections that will be opened at most, and what each takes. */
  readonly connections: number
  readonly connectionBytes: number
  /** What went over the wire already. */
  readonly used: number
}

export interface Estimate {
  /** Both ways, with what went already. */
  readonly bytes: number
  readonly documents: number
  /** What was looked at, in decoded bytes. */
  readonly sampledBytes: number
  /** Inputs of which nothing can be known before: stdin, pipes, streams, broken files. */
  readonly unknown: readonly string[]
}

/** What is left of an input. */
type Amount = Pick<Sample, 'documents' | 'body' | 'wire'>

interface Sized {
  readonly input: PlannedInput
  readonly size: number
  readonly isCompressed: boolean
}

/** Throws nothing for an input that cannot be read: the load will name it. */
export async function estimateTraffic(estimating: Estimating): Promise<Estimate> {
  const left = estimating.inputs.filter(({ isLoaded }) => !isLoaded)
  const sized: Sized[] = []
  const unknown: PlannedInput[] = []
  for (const input of left) {
    const one = await sizeOf(input)
    if (one === undefined) unknown.push(input)
    else sized.push(one)
  }
  const amounts: Amount[] = []
  let sampledBytes = 0
  // What is compressed is stored in another measure.
  for (const isCompressed of [false, true]) {
    const group = sized.filter(one => one.isCompressed === isCompressed && one.size > 0)
    const samples: Sample[] = []
    const chosen = spread(group, SAMPLED_INPUTS)
    const bytes = Math.max(SMALLEST_SAMPLE_BYTES, Math.floor(SAMPLE_BYTES / Math.max(1, chosen.length)))
    for (const one of chosen) {
      const sample = await sampleInput(one.input, one.isCompressed, bytes, estimating)
      if (sample !== undefined) samples.push(sample)
    }
    if (group.length > 0 && samples.length === 0) unknown.push(...group.map(({ input }) => input))
    for (const { decoded } of samples) sampledBytes += decoded
    if (samples.length > 0) for (const one of group) amounts.push(scaled(one, samples))
  }
  const documents = sum(amounts, one => one.documents)
  return {
    bytes: Math.round(traffic(amounts, documents, estimating)),
    documents: Math.round(documents),
    sampledBytes,
    unknown: unknown.map(({ source }) => source.name),
  }
}

function traffic(amounts: readonly Amount[], documents: number, estimating: Estimating): number {
  const { batchBytes, batchDocs, connections, connectionBytes, used } = estimating
  const bodies = sum(amounts, one => one.body)
  const requests = Math.ceil(Math.max(bodies / batchBytes, documents / batchDocs))
  const carried = sum(amounts, one => one.wire) + documents * ANSWER_BYTES
  return (
    used + carried * (1 + FRAMING_SHARE) + requests * HEADER_BYTES + Math.min(requests, connections) * connectionBytes
  )
}

async function sizeOf(input: PlannedInput): Promise<Sized | undefined> {
  // To sample it would be to wait for what has not come yet.
  if (input.source.spool?.grows === true) return undefined
  try {
    // One that was begun earlier may have grown since.
    const seen = input.from === undefined ? input.file : undefined
    const look = seen ?? (await input.source.file?.look())
    return look === undefined ? undefined : { input, size: look.size, isCompressed: look.isCompressed }
  } catch (error) {
    if (isSluiceError(error)) return undefined
    throw error
  }
}

function spread<T>(all: readonly T[], count: number): T[] {
  const step = Math.max(1, all.length / count)
  return Array.from({ length: Math.min(all.length, count) }, (_, at) => all[Math.floor(at * step)] as T)
}

/** What is left of an input, by the measure of the samples. */
function scaled({ input, size, isCompressed }: Sized, samples: readonly Sample[]): Amount {
  const decodedOfSamples = sum(samples, one => one.decoded)
  const whole = isCompressed
    ? size *
      (decodedOfSamples /
        Math.max(
          1,
          sum(samples, one => one.stored),
        ))
    : size
  // Of what is rewritten the mark is none of the input's own bytes: the two are about as long.
  const decoded = Math.max(0, whole - (input.from?.offset ?? 0))
  const share = decoded / decodedOfSamples
  return {
    documents: share * sum(samples, one => one.documents),
    body: share * sum(samples, one => one.body),
    wire: share * sum(samples, one => one.wire),
  }
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0)
}
