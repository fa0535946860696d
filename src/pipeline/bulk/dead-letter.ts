/** Reads records of dead letters: what is needed to send their documents again, and to write them down again. */
import { isAbsolute } from 'node:path'
import type { Clock, Destination, Origin, Refused, StoredDocument } from '../../base/flow.js'
import { type Operation, type Script, isOperation, operations, rowOf } from '../../base/operation.js'
import { endOfLine, isBlank, withoutLineEnd } from '../../base/text/bytes.js'
import { kindOfCondition } from '../../base/text/condition.js'
import { unicodeProblem } from '../../base/text/shown.js'
import { lineProblem } from './judge-line.js'
import { topLevelFields } from '../../base/json/parse-json.js'
import { wholeLines } from './frame-lines.js'

/** A record without its document. A person may have edited it, so every part is checked and nothing else is used. */
export interface Recorded {
  readonly operation: Operation
  readonly origin: Origin
  /** The run that wrote it. */
  readonly run?: string
  /** How often the document was sent. */
  readonly attempts: number
  readonly status: number
  readonly type: string
  readonly id?: string
  readonly routing?: string
  readonly condition?: string
  /** Records of before there was an `index` in them have none. */
  readonly destination: Partial<Destination>
}

export interface DeadLetter extends Recorded {
  /** The bytes of `document`, else of `line`, else of `base64`, else of `start`. */
  readonly content: Buffer
  /** Set if these are only its first bytes: where the whole document is stored. */
  readonly stored?: StoredAt
  /** Set if the edits or the function of its load failed, and the user has not added their result. */
  readonly isUnedited?: true
  /** Set if it is a row of a table, and the user has not added its document. */
  readonly isUnrepairedRow?: true
  /** Why the document was rejected. */
  readonly reason?: string
}

export interface StoredAt extends StoredDocument {
  /** Of its first byte in the decoded input. */
  readonly offset: number
}

/** A line that is no record. */
export interface Broken {
  readonly problem: string
  /** Has no line end. */
  readonly line: Buffer
  readonly origin: Origin
}

/** Reads a record from one line, with or without its line end. `where`: the position of the line. */
export function readDeadLetter(line: Buffer, where: Origin): DeadLetter | Broken {
  const broken = (why: string) => ({ problem: why, line: withoutLineEnd(line), origin: where })
  const problem = lineProblem(line, 0, line.length, false)
  if (problem !== undefined) return broken(problem)
  const fields = topLevelFields(withoutLineEnd(line))
  const recorded = recordedIn(fields)
  if (typeof recorded === 'string') return broken(recorded)
  const content = contentIn(fields)
  if (content === undefined) {
    const start = valueOf(fields.get('start'))
    if (typeof start !== 'string') return broken('it has no document, line or base64')
    const stored = storedAt(recorded.origin)
    if (typeof stored === 'string') return broken(stored)
    return { ...recorded, content: Buffer.from(start), stored }
  }
  // The line was no record when it was read first. A person may have repaired it in place since.
  if (recorded.type === 'DEAD_LETTER_BROKEN' && !fields.has('document')) return readDeadLetter(content, recorded.origin)
  const given = valueOf(fields.get('reason'))
  const reason = typeof given === 'string' ? { reason: given } : {}
  if (fields.has('document')) return { ...recorded, ...reason, content }
  return {
    ...recorded,
    ...reason,
    content,
    ...(unedited.has(recorded.type) ? { isUnedited: true } : {}),
    ...(recorded.type === 'DOCUMENT_ROW_INVALID' ? { isUnrepairedRow: true } : {}),
  }
}

/** Why a document is in a record as it was read. */
const unedited: ReadonlySet<string> = new Set(['DOCUMENT_NOT_EDITED', 'DOCUMENT_NOT_TRANSFORMED'])

/** Bytes of a record that hold everything before the document, as Sluice writes it. */
export const HEAD_BYTES = 64 << 10

/** The head of a record that is too long to hold, from its first bytes, and how many of them it takes. */
export function readLongHead(bytes: Buffer): { readonly recorded: Recorded; readonly length: number } | undefined {
  const text = bytes.toString('latin1', 0, HEAD_BYTES)
  // One of these keys comes next, however the document is kept. Inside a text, the quotes would be escaped.
  const [head] = text.split(/,"(?:base64|reason)":/, 1)
  if (head === undefined || head.length === text.length) return undefined
  const whole = Buffer.from(`${head}}`, 'latin1')
  if (lineProblem(whole, 0, whole.length, false) !== undefined) return undefined
  const fields = topLevelFields(whole)
  const recorded = recordedIn(fields)
  return typeof recorded === 'string' ? undefined : { recorded, length: head.length }
}

/** Fields of a record that are text. */
const TEXTS = [
  'id',
  'routing',
  'index',
  'pipeline',
  'idField',
  'idSeparator',
  'routingField',
  'versionField',
  'ifSeqNoField',
  'ifPrimaryTermField',
]

function recordedIn(fields: ReadonlyMap<string, Buffer>): Recorded | string {
  const value = (name: string) => valueOf(fields.get(name))
  const [operation, origin] = [value('operation'), value('origin')]
  if (!isOperation(operation)) return `its operation is not one of ${operations.join(', ')}`
  if (!isOrigin(origin)) return 'it has no origin with an input and the number of a document'
  const texts = textsIn(value)
  if (typeof texts === 'string') return texts
  const { id, routing, ...others } = texts
  const script = scriptIn(value('script'))
  if (script === null || (script !== undefined && !rowOf(operation).takes.includes('script')))
    return 'its script is not one of an update, with source or id'
  const destination = {
    ...others,
    ...(value('ids') === 'hash' ? { ids: 'hash' as const } : {}),
    ...(script === undefined ? {} : { script }),
  }
  const condition = conditionIn(fields.get('condition'))
  if (condition !== undefined && kindOfCondition(condition) === undefined)
    return 'its condition is neither version and version_type nor if_seq_no and if_primary_term'
  const [attempts, status, type, run] = [value('attempts'), value('status'), value('type'), value('run')]
  return {
    operation,
    origin,
    ...(typeof run === 'string' ? { run } : {}),
    attempts: typeof attempts === 'number' && attempts > 0 ? Math.floor(attempts) : 0,
    status: typeof status === 'number' ? status : 0,
    type: typeof type === 'string' ? type : '',
    ...(id === undefined ? {} : { id }),
    ...(routing === undefined ? {} : { routing }),
    ...(condition === undefined ? {} : { condition }),
    destination,
  }
}

/** Returns the fields that are text, or why they are not. */
function textsIn(value: (name: string) => unknown): Readonly<Record<string, string>> | string {
  const texts: Record<string, string> = {}
  for (const name of TEXTS) {
    const text = value(name)
    if (text === undefined) continue
    if (typeof text !== 'string' || text === '') return `its ${name} is not a string`
    // A request carries these two in its URL.
    if ((name === 'index' || name === 'pipeline') && unicodeProblem(text) !== undefined)
      return `its ${name} is not whole Unicode`
    texts[name] = text
  }
  return texts
}

/** Returns null for what is no script. */
function scriptIn(value: unknown): Script | null | undefined {
  if (value === undefined) return undefined
  const { source, id } = (value ?? {}) as Partial<Record<string, unknown>>
  if (typeof source === 'string' && source !== '' && id === undefined) return { source }
  return typeof id === 'string' && id !== '' && source === undefined ? { id } : null
}

/** Returns the fields of a condition without white space, because digits beyond 2^53 must stay as they are. */
function conditionIn(raw: Buffer | undefined): string | undefined {
  if (raw === undefined) return undefined
  if (!raw.toString().trimStart().startsWith('{')) return ''
  return Array.from(topLevelFields(raw), ([name, value]) => `${JSON.stringify(name)}:${value.toString().trim()}`).join(
    ',',
  )
}

function isOrigin(value: unknown): value is Origin {
  if (typeof value !== 'object' || value === null) return false
  const { input, document, offset } = value as Partial<Record<string, unknown>>
  // In the middle of an input the number of the document is unknown.
  return typeof input === 'string' && typeof (document ?? offset) === 'number'
}

/**
 * Returns where the document is stored, or why that is unknown. A person may have edited the record, so each value is checked. A path that
 * begins in the working folder may be that of another file.
 */
function storedAt({ offset, stored }: Origin): StoredAt | string {
  const { file, bytes, sha256 } = (stored ?? {}) as Partial<Record<string, unknown>>
  if (!isCount(offset) || !isCount(bytes) || typeof file !== 'string' || typeof sha256 !== 'string')
    return 'its origin does not say where its document is stored'
  if (!isAbsolute(file))
    return `origin.stored.file is not an absolute path: ${file}. Write the whole path of the input there`
  return { file, offset, bytes, sha256 }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function contentIn(fields: ReadonlyMap<string, Buffer>): Buffer | undefined {
  const document = fields.get('document')
  if (document !== undefined) return Buffer.from(document)
  const [line, base64] = [valueOf(fields.get('line')), valueOf(fields.get('base64'))]
  if (typeof line === 'string') return Buffer.from(line)
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64') : undefined
}

function valueOf(raw: Buffer | undefined): unknown {
  return raw === undefined ? undefined : JSON.parse(raw.toString())
}

/** Returns a document that was refused again, for the dead letters. */
export function refusedAgain(
  { operation, origin, attempts, id, routing, condition, stored }: DeadLetter,
  document: Buffer,
  destination: Destination,
  why: Pick<Refused, 'type' | 'reason'>,
): Refused {
  return {
    document,
    ...(stored === undefined ? {} : { isExcerpt: true }),
    operation,
    ...(id === undefined ? {} : { id }),
    ...(routing === undefined ? {} : { routing }),
    ...(condition === undefined ? {} : { condition }),
    destination,
    status: 0,
    ...why,
    origin,
    attempts,
  }
}

/** Longer than any record that Sluice must hold to understand it. */
const LONG_BYTES = 16 << 20
/** Files need no limit of waiting. */
const NEVER_MS = 2 ** 31 - 1

/** A line that is no dead letter. `isLong`: it is too long to hold, and its rest is still unread. */
interface NoLetter {
  readonly problem: string
  readonly isLong?: true
}

/** Yields the facts of dead letters, without their documents. Throws the reader's errors. */
export async function* readLetters(
  input: string,
  bytes: AsyncIterable<Uint8Array>,
  clock: Clock,
): AsyncGenerator<Recorded | NoLetter> {
  const where = { input, document: 1 }
  let head = Buffer.alloc(0)
  let isTold = false
  for await (const piece of wholeLines(bytes, { maxLineBytes: LONG_BYTES, lateMs: NEVER_MS, clock })) {
    if (piece.kind === 'late') continue
    if (piece.kind === 'long') {
      if (!isTold) head = Buffer.concat([head, piece.bytes])
      if (!isTold && (head.length >= HEAD_BYTES || piece.ends)) {
        isTold = true
        const problem = 'it does not begin with operation and origin'
        yield readLongHead(head)?.recorded ?? { problem, isLong: true }
      }
      if (!piece.ends) continue
      head = Buffer.alloc(0)
      isTold = false
      continue
    }
    for (let from = 0; from < piece.bytes.length;) {
      const to = endOfLine(piece.bytes, from)
      const line = piece.bytes.subarray(from, to)
      from = to
      if (!isBlank(line, 0, line.length)) yield readDeadLetter(line, where)
    }
  }
}
