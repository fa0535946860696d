/**
 * Keeps the inputs of a run as the lines of its journal, and parses an input when somebody asks for it. A run may have very many, and
 * most loads ask for few of them.
 */
import type { Mark } from '../../../base/flow.js'
import { isObject, parseJson } from '../../../base/json/parse-json.js'
import { type CheckpointInput, type ContentIdentity, type FileIdentity, type InputList, START } from './checkpoint.js'
import type { PackedText } from './packed-text.js'

const NONE = -1

/** Where the lines of each input begin: the one that describes it, its last mark, and up to where it may have been sent. */
export class PackedInputs implements InputList {
  #text: PackedText | undefined
  #inputs: number[] = []
  #marks: number[] = []
  #sent: number[] = []
  /** Since when inputs are known from a position on. */
  readonly #since: { readonly from: number; readonly time: string }[] = []
  /** Positions by id. Absent once all lines are there. */
  #byId: Map<number, number> | undefined = new Map()
  /** Marks behind the last checkpoint. */
  readonly #open = new Map<number, { readonly parts: unknown[]; readonly at: number }>()

  constructor(text: PackedText) {
    this.#text = text
  }

  get length(): number {
    return this.#inputs.length
  }

  /** Takes a line that begins at an offset. Throws if it is not of its kind. */
  take([tag, id, ...parts]: unknown[], at: number): void {
    const number = Number(id)
    if (tag === 'since') this.#since.push({ from: this.length, time: String(id) })
    else if (tag === 'mark') this.#open.set(number, { parts, at })
    else if (tag === 'input') {
      inputIn(number, parts)
      const position = this.#byId?.get(number) ?? this.length
      this.#byId?.set(number, position)
      this.#inputs[position] = at
      this.#marks[position] = NONE
      this.#sent[position] = NONE
    } else if (tag === 'sent') {
      const position = this.#byId?.get(number)
      if (position !== undefined) this.#sent[position] = at
    }
  }

  /** A checkpoint follows the marks: they count. Throws if one is not of its kind. */
  commit(): void {
    for (const [id, { parts, at }] of this.#open) {
      const position = this.#byId?.get(id)
      if (position === undefined) throw new Error('a mark without an input')
      checkMark(parts)
      this.#marks[position] = at
    }
    this.#open.clear()
  }

  /** All lines are there. */
  close(): void {
    this.#byId = undefined
    this.#open.clear()
  }

  forget(): void {
    this.#text = undefined
    this.#inputs = []
    this.#marks = []
    this.#sent = []
  }

  at(number: number): CheckpointInput | undefined {
    const at = this.#inputs[number]
    if (at === undefined) return undefined
    const [, id, ...parts] = this.#lineAt(at)
    const input: Writable<CheckpointInput> = inputIn(Number(id), parts)
    const since = this.#since.findLast(({ from }) => from <= number)
    if (since !== undefined) input.since = since.time
    const mark = this.#marks[number] ?? NONE
    const sent = this.#sent[number] ?? NONE
    const steps = [
      { at: mark, take: (line: unknown[]) => move(input, line) },
      { at: sent, take: (line: unknown[]) => send(input, line) },
    ]
    for (const step of mark < sent ? steps : steps.toReversed())
      if (step.at !== NONE) step.take(this.#lineAt(step.at).slice(2))
    return input
  }

  *[Symbol.iterator](): Iterator<CheckpointInput> {
    for (let number = 0; number < this.length; number += 1) {
      const input = this.at(number)
      if (input !== undefined) yield input
    }
  }

  #lineAt(at: number): unknown[] {
    return parseJson(this.#text?.lineAt(at) ?? '') as unknown[]
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** Takes up to where documents may be sent. If an earlier mark ended the input, the file has grown since, and its load began again. */
function send(input: Writable<CheckpointInput>, [bytes, sum, ...more]: unknown[]): void {
  const state = more.find(one => typeof one === 'string')
  const content = more.find(isObject)
  if (input.file !== undefined) input.file = readTo(input.file, bytes, sum, state)
  if (content !== undefined) input.content = content
  input.status = 'begun'
}

function inputIn(id: number, [name, token, file, more]: unknown[]): Writable<CheckpointInput> {
  if (typeof name !== 'string' || typeof token !== 'string') throw new Error('no input')
  const identity = Array.isArray(file) ? fileIn(name, file) : undefined
  return {
    id,
    name,
    token,
    status: 'begun',
    mark: START,
    read: 0,
    hasStored: true,
    ...(identity === undefined ? {} : { file: identity }),
    ...(more as object | undefined),
  }
}

function fileIn(name: string, [at, bytes, sum, ...rest]: unknown[]): FileIdentity {
  const [size, inode, mtimeMs, ctimeMs] = rest as number[]
  const old = rest.find(isObject) as FileIdentity['old']
  const path = at === 1 ? name : typeof at === 'string' ? at : undefined
  const isSeen = typeof size === 'number' && inode !== undefined && mtimeMs !== undefined && ctimeMs !== undefined
  const stat = isSeen ? { size, inode, mtimeMs, ctimeMs } : undefined
  const state = rest.find(one => typeof one === 'string')
  const more = { ...(old === undefined ? {} : { old }), ...(state === undefined ? {} : { state }) }
  return { path, stat, bytes: Number(bytes), sum: String(sum), ...more }
}

const statuses = { b: 'begun', f: 'finished', x: 'failed' } as const

/** Throws if it is no mark. */
function checkMark([status, ...parts]: unknown[]): void {
  const isMark = parts.slice(0, 5).every(number => typeof number === 'number')
  if (!isMark || parts.length < 5 || !Object.hasOwn(statuses, String(status))) throw new Error('no mark')
  const { place } = (parts.find(isObject) ?? {}) as { readonly place?: unknown }
  if (place !== undefined && !isObject(place)) throw new Error('no place')
}

/** Moves the input to a mark. */
function move(input: Writable<CheckpointInput>, parts: unknown[]): void {
  const [status, document, line, offset, tail, read, hasStored] = parts as number[]
  const more = parts.find(isObject) as
    | {
        kind?: Mark['kind']
        place?: CheckpointInput['place']
        state?: unknown
        within?: unknown
        content?: ContentIdentity
      }
    | undefined
  const [bytes, sum] = parts.slice(7)
  input.status = statuses[String(status) as keyof typeof statuses]
  const within = typeof more?.within === 'number' ? { within: more.within } : {}
  input.mark = { kind: more?.kind ?? 'lines', document, line, offset, tail, ...within } as Mark
  input.read = Number(read)
  input.hasStored = hasStored === 1
  if (more?.place !== undefined) input.place = more.place
  if (more?.content !== undefined && (more.content.bytes ?? 0) >= (input.content?.bytes ?? 0))
    input.content = more.content
  // Bytes behind the mark may be sent.
  if (input.file !== undefined && typeof bytes === 'number' && bytes >= input.file.bytes)
    input.file = readTo(input.file, bytes, sum, more?.state)
}

/** A checksum takes the place of what an older Sluice kept. */
function readTo({ old, state: _, ...file }: FileIdentity, bytes: unknown, sum: unknown, state: unknown): FileIdentity {
  const more = { ...(sum === '' && old !== undefined ? { old } : {}), ...(typeof state === 'string' ? { state } : {}) }
  return { ...file, bytes: Number(bytes), sum: String(sum), ...more }
}
