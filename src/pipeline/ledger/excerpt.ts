/** Keeps only the beginning of a long document in the dead letters, if its input can be read again. */
import { createHash, type Hash } from 'node:crypto'
import type { Origin, Refused, StoredDocument } from '../../base/flow.js'

/** A longer document is not repeated in the dead letters. */
const LONGEST_KEPT_BYTES = 1 << 20
/** How much of it stays, for people. */
const START_BYTES = 1024
/** The cluster may quote the document in its reason. */
const REASON_LENGTH = 2048

/** Returns the absolute path of an input, by its name. Undefined: it cannot be read again. */
export type PathOf = (input: string) => string | undefined

/** Returns the refusal with the first bytes of its document, if it is long and its input still holds the rest. Otherwise returns it as it is. */
export function excerptOf(refused: Refused, pathOf: PathOf): Refused {
  const { document, origin, condition, isExcerpt } = refused
  if (isExcerpt === true || document.length <= LONGEST_KEPT_BYTES) return refused
  const { file, bytes = document.length, sha256 } = origin.stored ?? { file: fileOf(origin, pathOf) }
  // Fields that became a condition are missing in the document.
  if (file === undefined || (origin.stored === undefined && condition !== undefined)) return refused
  const sum = createHash('sha256').update(document).digest('hex')
  // Of a dead letter, the document may have been repaired.
  if (bytes !== document.length || (sha256 ?? sum) !== sum) return refused
  return excerpted(refused, startOf(document), { file, bytes, sha256: sum })
}

/** Takes a document that is too long to hold, and keeps what an excerpt needs. */
export class LongExcerpt {
  readonly #file: string
  readonly #sum: Hash = createHash('sha256')
  readonly #start = new LineStart()

  /** Undefined if nobody can read its input again at this position. */
  static at(origin: Origin, pathOf: PathOf): LongExcerpt | undefined {
    const file = fileOf(origin, pathOf)
    return file === undefined ? undefined : new LongExcerpt(file)
  }

  private constructor(file: string) {
    this.#file = file
  }

  get bytes(): number {
    return this.#start.bytes
  }

  add(bytes: Uint8Array): void {
    this.#sum.update(bytes)
    this.#start.add(bytes)
  }

  of(refused: Omit<Refused, 'document'>): Refused {
    const stored = { file: this.#file, bytes: this.bytes, sha256: this.#sum.digest('hex') }
    return excerpted(refused, this.#start.document, stored)
  }
}

/** The beginning of a line that comes in pieces, and how long the line is. */
export class LineStart {
  document = Buffer.alloc(0)
  bytes = 0

  add(bytes: Uint8Array): void {
    this.bytes += bytes.length
    const missing = START_BYTES - this.document.length
    if (missing > 0) this.document = Buffer.concat([this.document, bytes.subarray(0, missing)])
  }
}

function fileOf({ input, offset, part }: Origin, pathOf: PathOf): string | undefined {
  return offset === undefined || part !== undefined ? undefined : pathOf(input)
}

function excerpted(refused: Omit<Refused, 'document'>, document: Uint8Array, stored: StoredDocument): Refused {
  const { reason, origin } = refused
  const short = reason.length > REASON_LENGTH ? `${reason.slice(0, REASON_LENGTH)}…` : reason
  return { ...refused, document, isExcerpt: true, reason: short, origin: { ...origin, stored } }
}

function startOf(document: Uint8Array): Uint8Array {
  return Buffer.from(document.subarray(0, START_BYTES))
}
