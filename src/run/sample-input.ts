/** The beginning of an input, framed and compressed as a load would. */
import { promisify } from 'node:util'
import { gzip as gzipWithCallback } from 'node:zlib'
import { type ActionOptions, type ActionTemplate, actionLine, actionTemplate } from '../bulk/action-line.js'
import { isBlank, lineProblem } from '../bulk/check-line.js'
import { isSluiceError } from '../failure/sluice-error.js'
import type { Source } from '../flow.js'
import { type DecodeOptions, decode } from '../format/decode.js'

const gzip = promisify(gzipWithCallback)
const LINE_FEED = 0x0a

export interface Sampling {
  readonly format: DecodeOptions
  readonly action: ActionOptions
  /** Whether bodies are compressed. */
  readonly gzip: boolean
  readonly batchBytes: number
  readonly signal: AbortSignal
}

/** All in bytes but the documents. */
export interface Sample {
  /** What was read of the input, decoded, and what that takes as it is stored. */
  readonly decoded: number
  readonly stored: number
  readonly documents: number
  /** The documents with their action lines, and what is sent for them. */
  readonly body: number
  readonly wire: number
}

/** Of up to `bytes` decoded bytes. Undefined where there is nothing to be read. Throws nothing that the input is to blame for. */
export async function sampleInput(
  { source, token }: { readonly source: Source; readonly token: string },
  isCompressed: boolean,
  bytes: number,
  sampling: Sampling,
): Promise<Sample | undefined> {
  const { decoded, lines } = await readHead(source, bytes, sampling)
  if (decoded.length === 0) return undefined
  const { body, documents } = framed(lines, actionTemplate(sampling.action, token))
  return {
    decoded: decoded.length,
    // Compressed again, at the level of most files: what stands in the file cannot be cut at a decoded byte.
    stored: isCompressed ? (await gzip(decoded)).length : decoded.length,
    documents,
    body: body.length,
    wire: sampling.gzip ? await compressedLength(body, sampling.batchBytes) : body.length,
  }
}

async function compressedLength(body: Buffer, batchBytes: number): Promise<number> {
  let length = 0
  for (let from = 0; from < body.length; from += batchBytes) {
    length += (await gzip(body.subarray(from, from + batchBytes), { level: 1 })).length
  }
  return length
}

interface Head {
  readonly decoded: Buffer
  /** What the format makes of them; whole lines. */
  readonly lines: Buffer
}

async function readHead(source: Source, bytes: number, { format, signal }: Sampling): Promise<Head> {
  const read: Buffer[] = []
  const lines: Buffer[] = []
  let length = 0
  const head = async function* () {
    for await (const chunk of source.open(signal)) {
      const part = Buffer.from(chunk.subarray(0, bytes - length))
      length += part.length
      read.push(part)
      yield part
      if (length >= bytes) return
    }
  }
  try {
    const decoded = await decode(source, head(), format)
    for await (const part of decoded.bytes) lines.push(Buffer.from(part))
  } catch (error) {
    // A JSON document ends in its middle here.
    if (!isSluiceError(error) && !signal.aborted) throw error
  }
  const all = Buffer.concat(lines)
  return { decoded: Buffer.concat(read), lines: length < bytes ? all : all.subarray(0, all.lastIndexOf(LINE_FEED) + 1) }
}

/** Lines behind their action lines, but for those that would not be sent. */
function framed(lines: Buffer, template: ActionTemplate): { body: Buffer; documents: number } {
  const parts: Buffer[] = []
  let documents = 0
  for (let from = 0, to = 0; from < lines.length; from = to) {
    const end = lines.indexOf(LINE_FEED, from)
    to = end === -1 ? lines.length : end + 1
    if (isBlank(lines, from, to) || lineProblem(lines, from, to, false) !== undefined) continue
    const line = lines.subarray(from, to)
    const action = actionLine(template, documents + 1, () => line.toString('utf8'))
    if (typeof action !== 'string') continue
    documents += 1
    parts.push(Buffer.from(action), line)
  }
  return { body: Buffer.concat(parts), documents }
}
