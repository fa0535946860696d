/** Prepares one dead letter for a resend: frames it, or rejects it by the rules for every line. */
import { type Failure, failure } from '../../base/failure/failure.js'
import type { Destination, Origin, Refused, Addressed } from '../../base/flow.js'
import { type ConditionKind, type Operation, bulkFormOf, rowOf } from '../../base/operation.js'
import { conditionForm, kindOfCondition } from '../../base/text/condition.js'
import { patternIn } from '../../base/text/index-pattern.js'
import { unicodeProblem } from '../../base/text/shown.js'
import { LINE_FEED, SPACE, withoutLineEnd } from '../../base/text/bytes.js'
import { type ActionProblem, idOfFields, idProblem, idRule, indexIn, numberOf, scalar } from './action-line.js'
import {
  type Broken,
  type DeadLetter,
  type Recorded,
  type StoredAt,
  readDeadLetter,
  refusedAgain,
} from './dead-letter.js'
import { withoutMetadata } from './without-metadata.js'
import { type Why, idInvalid, whyUnsendable } from './judge-line.js'

export interface ReplayRules {
  readonly maxDocumentBytes: number
  /** The index for all of them, whatever they say. */
  readonly index?: string
  readonly pipeline?: string
  /** Hears which run wrote a letter. */
  heard?(run: string): void
  /** Returns whether letters of this run are rejected again as they are, because it was undone. */
  isUndone?(run: string): boolean
}

/** A document, with what its operation puts around it, and the action line that stands before it. */
export interface Resend {
  /** Ends with the line feed. */
  readonly action: string
  readonly document: Buffer
  readonly letter: DeadLetter
  readonly ids: Addressed['ids']
  readonly destination: Destination
  readonly condition: ConditionKind | undefined
}

/** Reads a long document from its input again. Resolves to a text if it is not there any more: why. */
export type ReadAgain = (stored: StoredAt) => Promise<Buffer | string>

/** `where`: the position of the record itself, used if it is broken. */
export async function judgeDeadLetter(
  line: Buffer,
  where: Origin,
  rules: ReplayRules,
  readAgain: ReadAgain,
): Promise<Resend | Refused> {
  const read = readDeadLetter(line, where)
  if ('problem' in read) return refusedAsBroken(read)
  if (read.run !== undefined) rules.heard?.(read.run)
  const meant = destinationOf(read, rules)
  if (meant === undefined) return refusedAsBroken({ problem: 'it does not name its index', line, origin: where })
  if (read.run !== undefined && rules.isUndone?.(read.run) === true) {
    const { type, reason = '' } = read
    return refusedAgain(read, read.content, meant, { type, reason })
  }
  const letter = await whole(read, rules, readAgain)
  if ('why' in letter) return refusedAgain(read, read.content, meant, letter.why)
  return judgeWhole(letter, meant, rules)
}

/** Returns the letter with its whole document, or why that cannot be sent. */
async function whole(
  letter: DeadLetter,
  { maxDocumentBytes: limit }: ReplayRules,
  readAgain: ReadAgain,
): Promise<DeadLetter | { readonly why: Why }> {
  const { stored, ...rest } = letter
  if (stored === undefined) return letter
  const { bytes } = stored
  if (bytes > limit) return { why: whyOf('DOCUMENT_TOO_LARGE', failure('DOCUMENT_TOO_LARGE', { bytes, limit })) }
  const content = await readAgain(stored)
  if (typeof content !== 'string') return { ...rest, content }
  return { why: whyOf('DOCUMENT_NOT_IN_INPUT', failure('DOCUMENT_NOT_IN_INPUT', { problem: content })) }
}

function whyOf(type: string, { message: reason }: Failure): Why {
  return { status: 0, type, reason }
}

function judgeWhole(letter: DeadLetter, meant: Destination, rules: ReplayRules): Resend | Refused {
  const { content } = letter
  const unsendable = whyUnsendable(content, 0, content.length, false, rules.maxDocumentBytes)
  if (unsendable !== undefined) return refusedAgain(letter, content, meant, ofRow(letter) ?? unsendable)
  if (letter.isUnedited === true) return refusedAgain(letter, content, meant, unedited(letter))
  const document = onOneLine(content)
  const index = indexOf(meant, content)
  if (typeof index !== 'string') return refusedAgain(letter, document, meant, idInvalid(index))
  const destination = { ...meant, index }
  const address = addressOf(letter)
  if ('problem' in address) return refusedAgain(letter, document, destination, idInvalid(address))
  const { _id: id } = address
  const ids = id === undefined ? 'none' : isOwn(id, letter) ? 'own' : 'given'
  const { changes } = rowOf(letter.operation)
  if (changes && id === undefined)
    return refusedAgain(letter, document, destination, idInvalid({ problem: 'is missing', field: 'id' }))
  const demanded = letter.condition ?? conditionIn(letter)
  if (typeof demanded === 'object') return refusedAgain(letter, document, destination, idInvalid(demanded))
  const condition = demanded === undefined ? undefined : kindOfCondition(demanded)
  const { script } = destination
  const sent = letter.condition === undefined ? withoutMetadata(document, destination) : document
  const text = [JSON.stringify(address).slice(1, -1), ...(demanded === undefined ? [] : [demanded])].join(',')
  return { ...framed(letter.operation, text, sent, { condition, script }), letter, ids, destination, condition }
}

/** A row that nobody has repaired has the same mistake as before. */
function ofRow({ type, reason, isUnrepairedRow }: DeadLetter): Why | undefined {
  return isUnrepairedRow === true && reason !== undefined ? { status: 0, type, reason } : undefined
}

function unedited({ type }: DeadLetter): Why {
  const [code, wanted] =
    type === 'DOCUMENT_NOT_EDITED'
      ? (['DOCUMENT_NOT_EDITED', 'an edited'] as const)
      : (['DOCUMENT_NOT_TRANSFORMED', 'a transformed'] as const)
  const problem = `this is the original line. Add ${wanted} \`document\``
  return { status: 0, type: code, reason: failure(code, { problem }).message }
}

function refusedAsBroken({ problem, line, origin }: Broken): Refused {
  const { message: reason } = failure('DEAD_LETTER_BROKEN', { problem })
  const document = Buffer.from(withoutLineEnd(line))
  return { document, operation: 'create', status: 0, type: 'DEAD_LETTER_BROKEN', reason, origin, attempts: 0 }
}

/** Returns undefined if nothing names an index. */
export function destinationOf({ destination }: Recorded, rules: ReplayRules): Destination | undefined {
  const { index = destination.index, pipeline = destination.pipeline } = rules
  return index === undefined ? undefined : { ...destination, index, ...(pipeline === undefined ? {} : { pipeline }) }
}

/** Returns the index. If the document could not say it before, it may have been repaired since. */
function indexOf({ index }: Destination, content: Buffer): string | ActionProblem {
  const pattern = patternIn(index)
  return pattern === undefined ? index : indexIn(content.toString('utf8'), pattern)
}

/**
 * Returns id and routing as recorded. If the record has none, looks into the document, which may have been repaired.
 */
function addressOf(letter: DeadLetter): { readonly _id?: string; readonly routing?: string } | ActionProblem {
  const { content, destination } = letter
  const { ids: from = 'field', idField: field, idSeparator, routingField } = destination
  const text = () => content.toString('utf8')
  const separator = idSeparator === undefined ? {} : { separator: idSeparator }
  const id = letter.id ?? (field === undefined ? undefined : idOfFields(text(), idRule({ from, field, ...separator })))
  const routing = letter.routing ?? (routingField === undefined ? undefined : scalar(text(), routingField))
  if (typeof id === 'object') return id
  if (typeof routing === 'object') return routing
  const problem = id === undefined ? undefined : idProblem(id)
  if (problem !== undefined) return { problem, field: 'id' }
  const ofRouting = routing === undefined ? undefined : unicodeProblem(routing)
  if (ofRouting !== undefined) return { problem: ofRouting, field: 'routing' }
  return { ...(id === undefined ? {} : { _id: id }), ...(routing === undefined ? {} : { routing }) }
}

/** Returns the condition that the fields of a document make. */
function conditionIn({ content, destination }: DeadLetter): string | ActionProblem | undefined {
  const form = conditionForm(destination)
  if (form === undefined) return undefined
  let text = ''
  for (const one of form.numbers) {
    const number = numberOf(content.toString('utf8'), one)
    if (typeof number !== 'string') return number
    text += one.opening + number
  }
  return text + form.closing
}

/** Returns the two lines of a bulk request, the second without its line end. */
function framed(
  operation: Operation,
  address: string,
  document: Buffer,
  terms: Parameters<typeof bulkFormOf>[1],
): Pick<Resend, 'action' | 'document'> {
  const { action, opening, closing } = bulkFormOf(operation, terms)
  const line =
    opening + closing === '' ? document : Buffer.concat([Buffer.from(opening), document, Buffer.from(closing)])
  return { action: `${action}${address}}}\n`, document: line }
}

/** An id that Sluice made ends in the number of its document, and of the part if there are several, or in the offset of its line. */
function isOwn(id: string, { origin, destination }: DeadLetter): boolean {
  const number = /^[a-z2-7]{16}-(\d+)(?:\.\d+)?$/.exec(id)?.[1]
  const isOfOrigin = number === String(origin.document) || number === String(origin.offset)
  return destination.idField === undefined && number !== undefined && isOfOrigin
}

/** Text that was repaired by hand may stand on several lines. In a JSON object a line end can only be white space. */
function onOneLine(document: Buffer): Buffer {
  if (!document.includes(LINE_FEED)) return document
  return Buffer.from(document.map(byte => (byte === LINE_FEED ? SPACE : byte)))
}
