/**
 * Keeps the state of a run in a file of JSON lines: one that describes the run, one or two for each input, and one for each
 * checkpoint. Lines are only added, so that a checkpoint costs what has changed. A line that a crash has torn is the last one, and
 * counts as not written.
 */
import { appendFileSync, ftruncateSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { replaceFile } from '../../../base/disk/safe-files.js'
import { nothing } from '../../../pipeline/ledger/account.js'
import type { Mark } from '../../../base/flow.js'
import { isObject, type JsonObject, parseJson } from '../../../base/json/parse-json.js'
import type { Checkpoint, CheckpointInput, FileIdentity, RunEnd } from './checkpoint.js'
import { endIn, hasFittingOptions } from './shapes.js'
import { PackedInputs } from './packed-inputs.js'
import { PackedText } from './packed-text.js'

/** Changes with every change that an older Sluice would read wrongly. */
const VERSION = 2

/** Characters of inputs that are written at once. */
const TEXT_AT_ONCE = 1 << 16

/** The facts about a run in its journal. */
type KeptRun = Omit<Checkpoint, 'inputs'> & { readonly inputs: Iterable<CheckpointInput> }

/** The part that does not change during a run. */
type Head = Pick<Checkpoint, 'run' | 'began' | 'scope' | 'kind' | 'named' | 'key' | 'sources' | 'options' | 'settles'>

/** The part of each checkpoint about the run as a whole. */
export type Whole = Pick<
  Checkpoint,
  'status' | 'written' | 'target' | 'isDoubtful' | 'left' | 'counts' | 'rejections'
> & {
  readonly deadLetters?: Checkpoint['deadLetters'] | undefined
  readonly replays?: Checkpoint['replays']
  readonly limitFrom?: Checkpoint['limitFrom']
  readonly since?: Checkpoint['since']
}

/** The file of the run that this process writes. */
export class Journal {
  readonly path: string
  readonly #file: FileHandle
  /** Bytes of whole lines. A part of a line may follow them while `#unwritten` is not empty. */
  #length: number
  /** Lines that the disk did not take. */
  #unwritten = ''

  private constructor(path: string, file: FileHandle, length: number) {
    this.path = path
    this.#file = file
    this.#length = length
  }

  /** Writes the file anew, with what is known of the run. Throws errors of the file system. */
  static async begin(path: string, checkpoint: KeptRun): Promise<Journal> {
    await replaceFile(path, linesOf(checkpoint))
    const file = await open(path, 'a+')
    return new Journal(path, file, (await file.stat()).size)
  }

  /**
   * Adds lines in the order of the calls. `lasting`: also after a loss of power. Throws errors of the file system: then the next call
   * writes these lines too.
   */
  async add(lines: string, lasting: boolean): Promise<void> {
    const { fd } = this.#file
    // A disk that was full may have taken a part of the last lines.
    if (this.#unwritten !== '') ftruncateSync(fd, this.#length)
    this.#unwritten += lines
    // A batch waits for its line: the thread pool, which reads the input, would take longer than the write itself.
    appendFileSync(fd, this.#unwritten)
    this.#length += Buffer.byteLength(this.#unwritten)
    this.#unwritten = ''
    if (lasting) await this.#file.datasync()
  }

  /** Writes the file again if it is gone. Throws errors of the file system. */
  async restore(): Promise<void> {
    const isThere = await stat(this.path).then(
      () => true,
      () => false,
    )
    if (isThere) return
    const text: Buffer[] = []
    // The position of the handle is at its end.
    for await (const part of this.#file.createReadStream({ start: 0, autoClose: false })) text.push(part as Buffer)
    await replaceFile(this.path, Buffer.concat(text).toString())
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}

/** Says when the process began that takes up the inputs of the next lines. */
export function sinceLine(time: string): string {
  return `${JSON.stringify(['since', time])}\n`
}

/** Says what an input is: on the disk before its first document is sent. `mark`: where reading begins, if no line of a mark follows. */
export function inputLine(input: CheckpointInput, mark?: Mark): string {
  const { id, name, token, file, address, start, copy, selection, content } = input
  const more = { address, start, copy, selection, mark, content }
  const rest = Object.values(more).some(value => value !== undefined) ? [more] : []
  return `${JSON.stringify(['input', id, name, token, file === undefined ? 0 : fileOf(name, file), ...rest])}\n`
}

/** Says how far an input has come. */
export function markLine({ id, status, mark, read, hasStored, file, place, content }: CheckpointInput): string {
  const { kind, document, line, offset, tail, within } = mark
  const parts = [id, letters[status], document, line, offset, tail, read, hasStored ? 1 : 0]
  const bytes = file === undefined ? [] : [file.bytes, file.sum]
  const state = file?.state
  const extra = { ...(kind === 'lines' ? {} : { kind }), place, state, within, content }
  const more = Object.values(extra).some(one => one !== undefined) ? [extra] : []
  return `${JSON.stringify(['mark', ...parts, ...bytes, ...more])}\n`
}

/** Says up to where documents of an input may be sent. `more`: the state of the checksum, and the content. */
export function sentLine(
  id: number,
  bytes: number,
  sum: string,
  ...more: readonly (string | object | undefined)[]
): string {
  return `${JSON.stringify(['sent', id, bytes, sum, ...more.filter(one => one !== undefined)])}\n`
}

/** Returns how a process ended the run, if a line says so. */
export function endInLine(line: unknown): RunEnd | undefined {
  return isObject(line) ? endIn(line['ended']) : undefined
}

/** Says how a process ended the run. A later checkpoint takes it back. */
export function endLine(ended: RunEnd): string {
  return `${JSON.stringify({ ended })}\n`
}

/** Ends a checkpoint: the marks before it count from now on. */
export function wholeLine(whole: Whole): string {
  return `${JSON.stringify(whole)}\n`
}

/** Returns the lines of a run as one checkpoint. */
export function* linesOf(checkpoint: KeptRun): Generator<string> {
  const { run, began, scope, kind, named, key, sources, options, settles, inputs } = checkpoint
  const { status, written, target, isDoubtful, left, counts, rejections } = checkpoint
  const { deadLetters, replays, limitFrom, since } = checkpoint
  const head: Head = { run, began, scope, kind, named, key, sources, options, settles }
  yield `${JSON.stringify({ sluice: VERSION, ...head })}\n`
  let text = ''
  let time = began
  for (const input of inputs) {
    const { since = began } = input
    if (since !== time) text += sinceLine(since)
    time = since
    text += inputLine(input) + markLine(input)
    if (text.length < TEXT_AT_ONCE) continue
    yield text
    text = ''
  }
  yield text
  yield wholeLine({
    status,
    written,
    target,
    isDoubtful,
    left,
    counts,
    rejections,
    deadLetters,
    replays,
    limitFrom,
    since,
  })
}

function fileOf(name: string, { path, stat, bytes, sum, state, old }: FileIdentity): unknown[] {
  const at = path === undefined ? 0 : path
  const seen = stat === undefined ? [] : [stat.size, stat.inode, stat.mtimeMs, stat.ctimeMs]
  const rest = [old, state].filter(one => one !== undefined)
  return [at === name ? 1 : at, bytes, sum, ...seen, ...rest]
}

const letters = { begun: 'b', finished: 'f', failed: 'x' } as const

/**
 * Returns the state of the run, or the problem with a text that is no journal of this version. Lines behind the last checkpoint show
 * which documents may have been sent.
 */
export function parseJournal(text: PackedText): Checkpoint | string {
  const runs = parseJournals(text)
  return typeof runs === 'string' ? runs : (runs[0] ?? 'it is not the state of a run')
}

/** Reads the state of a run as `parseJournal` does. Throws errors of the file system. */
export function readJournal(path: string): Checkpoint | string {
  return parseJournal(PackedText.read(path))
}

/** Reads the states of several runs as `parseJournals` does. Throws errors of the file system. */
export function readJournals(path: string): readonly Checkpoint[] | string {
  return parseJournals(PackedText.read(path))
}

/** Returns the states of several runs, one behind the other. */
function parseJournals(text: PackedText): readonly Checkpoint[] | string {
  const lines = new Lines(text)
  const runs: Checkpoint[] = []
  let line = lines.next()
  while (line !== undefined) {
    if (!isObject(line)) return 'it is not the state of a run'
    const version = line['sluice']
    if (typeof version === 'number' && version > VERSION)
      return `a newer version of Sluice wrote it (version ${version})`
    if (version !== VERSION || !isDescribed(line)) return 'it is broken: its first line is not that of a run'
    const state = new State(line, text)
    try {
      for (line = lines.next(); line !== undefined && !isHead(line); line = lines.next()) state.take(line, lines.at)
    } catch {
      return `it is broken: line ${lines.number} does not have the expected form`
    }
    if (lines.isBroken) return `it is broken: line ${lines.number} is not JSON`
    const run = state.checkpoint()
    if (typeof run === 'string') return run
    runs.push(run)
  }
  return lines.isBroken ? `it is broken: line ${lines.number} is not JSON` : runs
}

function isHead(line: unknown): boolean {
  return isObject(line) && line['sluice'] !== undefined
}

/** Adds up the lines of one run. */
class State {
  readonly #head: object
  readonly #inputs: PackedInputs
  #whole: Whole | undefined
  #ended: RunEnd | undefined

  constructor(head: object, text: PackedText) {
    this.#head = head
    this.#inputs = new PackedInputs(text)
  }

  /** Takes a line that begins at an offset of the text. Throws if it is not of its kind. */
  take(line: unknown, at: number): void {
    if (Array.isArray(line)) this.#inputs.take(line, at)
    if (!isObject(line)) return
    if (line['ended'] !== undefined) {
      this.#ended = endInLine(line)
      return
    }
    this.#ended = undefined
    this.#whole = line as unknown as Whole
    this.#inputs.commit()
  }

  /** Returns the problem if there is no checkpoint. */
  checkpoint(): Checkpoint | string {
    const whole = this.#whole
    if (whole === undefined) return 'it is broken: it has no checkpoint'
    if (!isWhole(whole)) return 'it is broken: fields of its last checkpoint are missing or have the wrong type'
    const { sluice: _, ...head } = this.#head as Head & { readonly sluice: number }
    const ended = this.#ended === undefined ? {} : { ended: this.#ended }
    const counts = { ...nothing, ...whole.counts }
    this.#inputs.close()
    return { ...head, ...whole, counts, ...ended, inputs: this.#inputs } as Checkpoint
  }
}

function isDescribed(head: JsonObject): boolean {
  const { began, sources, options } = head
  const names = ['run', 'scope', 'key']
  return (
    names.every(name => typeof head[name] === 'string') &&
    isTime(began) &&
    Array.isArray(sources) &&
    sources.every(source => typeof source === 'string') &&
    isObject(options)
  )
}

function isWhole(whole: Partial<Whole>): boolean {
  const { status, written, target, isDoubtful, left, counts, rejections } = whole
  return (
    hasFittingOptions(whole) &&
    typeof status === 'string' &&
    isTime(written) &&
    typeof target?.url === 'string' &&
    typeof target.index === 'string' &&
    typeof isDoubtful === 'boolean' &&
    typeof left === 'number' &&
    Array.isArray(rejections) &&
    [counts?.read, ...Object.values(counts ?? {})].every(number => typeof number === 'number')
  )
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}

/** Reads JSON lines one by one. */
class Lines {
  number = 0
  isBroken = false
  /** The offset of the last line that was read. */
  at = 0
  readonly #text: PackedText
  #next = 0

  constructor(text: PackedText) {
    this.#text = text
  }

  /** Returns undefined at the end, and at a line that is not JSON. Only such a line before the last one is a fault. */
  next(): unknown {
    const line = this.#text.lineAt(this.#next)
    if (line === undefined) return undefined
    const value = parseJson(line)
    this.at = this.#next
    this.#next += line.length + 1
    this.number += 1
    this.isBroken = value === undefined
    return value
  }
}
