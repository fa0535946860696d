import { createReadStream } from 'node:fs'
import { type Checkpoint, lettersOf } from '../../run/state/checkpoint/checkpoint.js'
import type { KnownRun } from '../../run/state/runs/runs.js'
import { Letters } from '../../run/state/runs/open-letters.js'
import { LINE_FEED } from '../../base/text/bytes.js'
import type { InputIds } from './run-ids.js'

/** A record begins with its head. The document after it may have any length. */
const HEAD_BYTES = 8192

type Listed = Pick<InputIds, 'name' | 'token' | 'first' | 'last'>

/** Rejected documents of a run. */
export interface RejectedNumbers {
  /** Their numbers by the token of the input, as far as dead letters show them. */
  readonly rejected: ReadonlyMap<string, ReadonlySet<number>>
  readonly notes: readonly string[]
}

/** Rejected documents that no replay has stored since. */
export interface StillRejected extends RejectedNumbers {
  readonly documents: number
  /** How many of them were rejected because another document has their id. */
  readonly conflicts: number
}

/** Reads which documents a run rejected. `hasOwnIds`: whether Sluice made the ids of the run. */
export async function readRejected(
  run: Checkpoint,
  inputs: readonly Listed[],
  hasOwnIds: boolean,
): Promise<RejectedNumbers> {
  return await readLetters(run.counts.rejected === 0 ? [] : [run], inputs, hasOwnIds)
}

/**
 * Reads which documents of a run are still rejected. An id that is there shows nothing if ids come from fields: another document may have it.
 * `known`: all runs of the state folder.
 */
export async function readStillRejected(
  run: Checkpoint,
  inputs: readonly Listed[],
  known: readonly KnownRun[],
): Promise<StillRejected> {
  const left = new Letters(known).leftOf(run)
  const { rejected, notes } = await readLetters(left, inputs, false)
  const conflictsIn = ({ rejections, counts }: Checkpoint) =>
    Math.min(counts.rejected, sumOf(rejections.flatMap(one => (one.status === CONFLICT ? one.documents : []))))
  // A replay may also have rejected documents of other runs, and one that was interrupted may have rejected some again.
  const counted = Math.min(run.counts.rejected, sumOf(left.map(({ counts }) => counts.rejected)))
  const isAllRead = notes.length === 0
  const documents = isAllRead ? sumOf([...rejected.values()].map(({ size }) => size)) : counted
  return { rejected, notes, documents, conflicts: Math.min(documents, sumOf(left.map(conflictsIn))) }
}

const CONFLICT = 409

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0)
}

async function readLetters(
  runs: readonly Checkpoint[],
  inputs: readonly Listed[],
  hasOwnIds: boolean,
): Promise<RejectedNumbers> {
  const all = new Map(inputs.map(({ token }) => [token, new Set<number>()]))
  const notes: string[] = []
  const unknown = (why: string) => notes.push(`Sluice does not know which documents were rejected: ${why}`)
  for (const run of runs) {
    if (run.deadLetters === undefined) unknown('no dead letters were written')
    for (const { path, length } of lettersOf(run)) {
      const found = await rejectedNumbers({ path, length, run: run.run }, inputs, hasOwnIds)
      if (typeof found === 'string') unknown(`${path} ${found}`)
      else for (const [token, numbers] of found) for (const number of numbers) all.get(token)?.add(number)
    }
  }
  return { rejected: all, notes }
}

interface LettersOf {
  readonly path: string
  /** Of the part to read. */
  readonly length: number
  /** The run that rejected the documents. */
  readonly run: string
}

/**
 * Returns the numbers of the documents in dead letters, by the token of their input, or why the file cannot be read. A record with an id
 * belongs to the run that made the id. Other runs may have written to the file. Only older records do not name their run.
 */
export async function rejectedNumbers(
  { path, length, run }: LettersOf,
  inputs: readonly Listed[],
  hasOwnIds = true,
): Promise<Map<string, Set<number>> | string> {
  const byName = new Map(inputs.map(input => [input.name, input]))
  const rejected = new Map(inputs.map(({ token }) => [token, new Set<number>()]))
  if (length === 0) return rejected
  const book = ({ run: author = run, input: name, document, id }: LetterHead) => {
    const input = name === undefined ? undefined : byName.get(name)
    if (author !== run || input === undefined || document === undefined) return
    if (document < input.first || document > input.last) return
    if (!hasOwnIds || id === undefined || id === `${input.token}-${document}`) rejected.get(input.token)?.add(document)
  }
  try {
    for await (const head of letterHeads(path, length)) book(head)
  } catch (error) {
    return whyNotRead(error)
  }
  return rejected
}

/** Says why a file of dead letters could not be read. */
export function whyNotRead(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ENOENT' ? 'no longer exists' : `cannot be read (${code ?? message})`
}

/** What a record says of the document in it, as far as it does. */
interface LetterHead {
  readonly run?: string
  readonly input?: string
  readonly document?: number
  readonly id?: string
}

/** Yields the head of each record in a file of dead letters, up to `length`. */
export async function* letterHeads(path: string, length: number): AsyncGenerator<LetterHead> {
  for await (const head of heads(path, length)) yield readHead(head)
}

/** Yields the first bytes of each line. */
async function* heads(path: string, length: number): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let held = 0
  for await (const chunk of createReadStream(path, { end: length - 1 }) as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length;) {
      const lineFeed = chunk.indexOf(LINE_FEED, at)
      const end = lineFeed === -1 ? chunk.length : lineFeed
      const more = chunk.subarray(at, Math.min(end, at + HEAD_BYTES - held))
      parts.push(more)
      held += more.length
      if (lineFeed === -1) break
      yield Buffer.concat(parts, held).toString('utf8')
      parts = []
      held = 0
      at = lineFeed + 1
    }
  }
}

const TEXT = String.raw`"(?:[^"\\]|\\.)*"`

/** The order of `dead-letter-record.ts`: origin, destination, id. */
const HEAD = new RegExp(
  String.raw`^\{"operation":"\w+",(?:"run":(?<run>${TEXT}),)?(?:"writer":${TEXT},)?"origin":\{"input":(?<input>${TEXT}),"document":(?<document>\d+)(?:,"member":${TEXT})?[^{}]*(?:\{"file":${TEXT}[^{}]*\})?\},` +
    String.raw`(?:"(?:index|pipeline|ids|idField|idSeparator|routingField)":${TEXT},)*(?:"id":(?<id>${TEXT}))?`,
)

function readHead(head: string): LetterHead {
  const { run, input, document, id } = HEAD.exec(head)?.groups ?? {}
  if (input === undefined) return {}
  return {
    ...(run === undefined ? {} : { run: JSON.parse(run) as string }),
    input: JSON.parse(input) as string,
    document: Number(document),
    ...(id === undefined ? {} : { id: JSON.parse(id) as string }),
  }
}
