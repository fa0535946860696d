/** Documents whose bytes follow from their number, and the judge of what a server received of a body: all of it, or a beginning. */
import { createCipheriv, createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { constants, gunzipSync } from 'node:zlib'

/** Documents of one body: 8.4 MB, 6.4 MB compressed. A kernel takes 4 MB for a new socket whose other end does not read. */
export const BODY_DOCS = 700
export const DOCS = BODY_DOCS * 4

/** Not to be compressed further than its alphabet allows. */
const letters = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16))
  .update(Buffer.alloc(750_000))
  .toString('base64')
/** Where each document ends, by its number. */
const ends = [0]
const bytes = Buffer.concat(
  Array.from({ length: DOCS }, (_, index) => {
    const line = lineOf(index + 1)
    ends.push((ends[index] ?? 0) + line.length)
    return line
  }),
)

/** Documents of many lengths: where bytes of one body lie over another's, they break within a line. */
function lineOf(n: number): Buffer {
  const from = (n * 104_729) % 980_000
  const fill = letters.slice(from, from + 8000 + ((n * 613) % 7919))
  const sum = createHash('sha256').update(`${n}${fill}`).digest('hex')
  return Buffer.from(`{"n":${n},"fill":"${fill}","sum":"${sum}"}\n`)
}

/** The line of a document, with its line end. */
export function documentLine(n: number): Buffer {
  return bytes.subarray(ends[n - 1], ends[n])
}

/** How far the documents have to be read until those up to this number are behind the reader. */
export function bytesUpTo(n: number): number {
  return ends[Math.min(n, DOCS)] ?? bytes.length
}

/** All documents as one stream of bytes; `onPull` is told how many of them have been asked for. */
export function documentStream(onPull: (bytes: number) => void): Readable {
  const chunkBytes = 300_001
  const chunks = function* () {
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      onPull(Math.min(at + chunkBytes, bytes.length))
      yield bytes.subarray(at, at + chunkBytes)
    }
  }
  return Readable.from(chunks(), { objectMode: false })
}

export interface ReceivedBody {
  readonly bytes: Buffer
  readonly gzip: boolean
  readonly isWhole: boolean
}

const ACTION = /^\{"create":\{"_id":"(?:[a-z2-7]{16}-)?(\d+)"\}\}$/
const BEGINNING = /^\{"create":\{"_id":"[a-z2-7]{0,16}-?\d*"?\}{0,2}$/

/**
 * The numbers of the documents that are there whole, ascending. Throws where the bytes are anything else than a body, or, of one
 * that is not whole, than its beginning. `gaps`: documents may be left out between two.
 */
export function documentsOf(body: ReceivedBody, gaps = false): number[] {
  const text = body.gzip ? inflated(body) : body.bytes
  const numbers: number[] = []
  for (let at = 0; at < text.length;) {
    const actionEnd = text.indexOf('\n', at)
    const action = text.toString('latin1', at, actionEnd === -1 ? text.length : actionEnd)
    if (actionEnd === -1 && !body.isWhole && isBeginning(action)) break
    const n = Number(ACTION.exec(action)?.[1] ?? NaN)
    const last = numbers.at(-1)
    if (!(n >= 1 && n <= DOCS) || (last !== undefined && (gaps ? n <= last : n !== last + 1))) {
      throw new Error(`byte ${at}: ${JSON.stringify(action.slice(0, 80))} follows document ${last}`)
    }
    const expected = documentLine(n)
    const found = text.subarray(actionEnd + 1, actionEnd + 1 + expected.length)
    const isCut = found.length < expected.length
    if (!found.equals(expected.subarray(0, found.length)) || (isCut && body.isWhole)) {
      throw new Error(`byte ${at}: document ${n} is not the one that was to be sent`)
    }
    if (!isCut) numbers.push(n)
    at = actionEnd + 1 + expected.length
  }
  return numbers
}

function isBeginning(action: string): boolean {
  return '{"create":{"_id":"'.startsWith(action) || BEGINNING.test(action)
}

/** Of a body that was cut off, as much as its bytes tell. */
function inflated({ bytes: compressed, isWhole }: ReceivedBody): Buffer {
  if (isWhole) return gunzipSync(compressed)
  return compressed.length === 0 ? compressed : gunzipSync(compressed, { finishFlush: constants.Z_SYNC_FLUSH })
}
