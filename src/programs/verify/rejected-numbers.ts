import { createReadStream } from 'node:fs'
import { type Checkpoint, lettersOf } from '../../run/state/checkpoint/checkpoint.js'
import { LINE_FEED } from '../../base/text/bytes.js'
import type { InputIds } from './run-ids.js'

/** A record begins with its head. The document after it may have any length. */
const HEAD_BYTES = 8192

type Listed = Pick<InputIds, 'name' | 'token' | 'first' | 'last'>

/**
 * Returns the numbers of the rejected documents that the run's dead letters show, by token, and a note if they show none. `hasOwnIds`: whether
 * Sluice made the ids of the run.
 */
export async function readRejected(run: Checkpoint, inputs: readonly Listed[], hasOwnIds: boolean) {
  const none = (why?: string) => ({
    rejected: new Map<string, ReadonlySet<number>>(),
    notes: why === undefined ? [] : [`Sluice does not know which documents were rejected: ${why}`],
  })
  if (run.counts.rejected === 0) return none()
  if (run.deadLetters === undefined) return none('no dead letters were written')
  const all = new Map(inputs.map(({ token }) => [token, new Set<number>()]))
  const notes: string[] = []
  for (const { path, length } of lettersOf(run)) {
    const found = await rejectedNumbers(path, length, inputs, hasOwnIds)
    if (typeof found === 'string') notes.push(...none(`${path} ${found}`).notes)
    else for (const [token, numbers] of found) for (const number of numbers) all.get(token)?.add(number)
  }
  return { rejected: all, notes }
}

/**
 * Returns the numbers of the documents in dead letters, by the token of their input, or why the file cannot be read. Reads up to
 * `length`. A record with an id belongs to the run that made the id. A record without one was never sent, and belongs to its input.
 */
export async function rejectedNumbers(
  path: string,
  length: number,
  inputs: readonly Listed[],
  hasOwnIds = true,
): Promise<Map<string, Set<number>> | string> {
  const byName = new Map(inputs.map(input => [input.name, input]))
  const rejected = new Map(inputs.map(({ token }) => [token, new Set<number>()]))
  if (length === 0) return rejected
  const book = ({ input: name, document, id }: LetterHead) => {
    const input = name === undefined ? undefined : byName.get(name)
    if (input === undefined || document === undefined || document < input.first || document > input.last) return
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
  String.raw`^\{"operation":"\w+",(?:"(?:run|writer)":${TEXT},)*"origin":\{"input":(?<input>${TEXT}),"document":(?<document>\d+)(?:,"member":${TEXT})?[^{}]*(?:\{"file":${TEXT}[^{}]*\})?\},` +
    String.raw`(?:"(?:index|pipeline|ids|idField|idSeparator|routingField)":${TEXT},)*(?:"id":(?<id>${TEXT}))?`,
)

function readHead(head: string): LetterHead {
  const { input, document, id } = HEAD.exec(head)?.groups ?? {}
  if (input === undefined) return {}
  return {
    input: JSON.parse(input) as string,
    document: Number(document),
    ...(id === undefined ? {} : { id: JSON.parse(id) as string }),
  }
}
