import type { Lines, Source } from '../../base/flow.js'
import { decode } from '../../pipeline/format/decode.js'
import type { InputOptions } from '../../options/ingest-options.js'
import { listedIn, namedIn } from '../../options/names.js'
import { invalid } from '../../options/option-checks.js'
import { asProposed, type Format } from '../../pipeline/format/formats.js'
import type { Elsewhere } from '../../pipeline/source/find-files.js'
import { checkInferOptions } from '../../options/check-options.js'
import { findSources } from '../../pipeline/source/open-sources.js'
import { ACTION_MARK, refusedLineIn, refusedLineStart } from '../../base/text/bytes.js'
import { isSourceUrl } from '../../base/text/source-url.js'
import { isObject } from '../../base/json/parse-json.js'
import { parseExactly } from './value-kinds.js'
import { Observations } from './observe.js'
import { type TypeConflict, propose } from './propose.js'
import { notesOn, type Unreadable } from './say-proposal.js'

export interface InferOptions extends InputOptions {
  /** How many documents of each input to read. 0 reads all. Default 10,000. */
  readonly sample?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface InferredMapping {
  /** The body of `PUT /INDEX`, which `mapping` of `ingest` takes. */
  readonly mappings: Readonly<Record<string, unknown>>
  readonly conflicts: readonly TypeConflict[]
  /** Fields that were always null or empty. They have no type in the mapping. */
  readonly empty: readonly string[]
  readonly documents: number
  readonly inputs: number
  /** Lines, rows and others that give no document, and the first one. */
  readonly unreadable: { readonly lines: number; readonly first?: string }
  /** Whether the documents have more than 10,000 fields. */
  readonly isCut: boolean
  /** Types that columns of text could have, by the names of the columns: a value for `csv.types`. */
  readonly offered: Readonly<Record<string, string>>
  /** What a person should know of the proposal: one or two sentences each. */
  readonly notes: readonly string[]
}

const SAMPLE = 10_000

/**
 * Proposes a mapping for documents from a sample of them. Reads every format that `ingest` reads, and sends nothing.
 *
 * @throws SluiceError OPTION_INVALID, INPUT_*
 */
export async function inferMapping(options: InferOptions): Promise<InferredMapping> {
  const {
    source,
    stdin,
    sample = SAMPLE,
    signal = new AbortController().signal,
    ...format
  } = checkInferOptions(options)
  const names = [...namedIn(source), ...(listedIn(source) ?? [])]
  // Without the URL itself: it may hold a secret.
  if (names.some(isSourceUrl)) throw invalid('source', 'is a URL. Save a part of it as a file first')
  const sources = await findSources(source, stdin === undefined ? {} : { stdin })
  return await inferFrom(sources, { ...format, sample }, signal)
}

/** Documents of all inputs that are read, if a load asks for a mapping. More would make it begin late. */
const MOST_DOCUMENTS = 1_000_000

/** Proposes a mapping for inputs that were found. Reads tables as a load with the proposed mapping does, whatever the options say. */
export async function inferFrom(
  sources: readonly Source[],
  { sample = SAMPLE, ...format }: Partial<Omit<InferOptions, 'source' | 'stdin'>>,
  signal: AbortSignal,
): Promise<InferredMapping> {
  const reading = new Sample(sample === 0 ? Infinity : sample)
  for (const one of sources) {
    if (reading.isFull) break
    await reading.read(one, one.open(signal), format)
  }
  return proposed(reading, sources.length, format.csv)
}

function proposed(
  { observed, unreadable, offered, lacking }: Sample,
  inputs: number,
  csv: InferOptions['csv'],
): InferredMapping {
  const { mapping, conflicts, empty, ambiguous } = propose(observed)
  const [first] = unreadable.values()
  const lines = [...unreadable.values()].reduce((sum, { count }) => sum + count, 0)
  const { documents, isCut } = observed
  const found = { conflicts, empty, documents, isCut, offered }
  // A load with this option reads the words as the proposal does.
  const unread = csv?.inferTypes === true ? new Map() : lacking
  return {
    mappings: mapping,
    ...found,
    unreadable: { lines, ...(first === undefined ? {} : { first: first.first }) },
    inputs,
    notes: [...notesOn({ ...found, mapping, unreadable, ambiguous, unread })],
  }
}

class Sample {
  readonly observed = new Observations()
  /** What gives no document, by the word for it. */
  readonly unreadable = new Map<Unreadable, { count: number; readonly first: string }>()
  /** Types that columns of text could have. */
  readonly offered: Record<string, string> = {}
  /** Words that stand for missing values, by the names of columns. */
  readonly lacking = new Map<string, readonly string[]>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  /** Whether no more inputs are read. A caller that wants all documents gets all. */
  get isFull(): boolean {
    return this.#most !== Infinity && this.observed.documents >= MOST_DOCUMENTS
  }

  async read(
    source: Source,
    bytes: AsyncIterable<Uint8Array>,
    { format = 'auto', pick, csv, members, sheet }: Partial<InferOptions>,
  ): Promise<void> {
    const lines = await decode(source, bytes, { format, pick, members, sheet, csv: asProposed(csv) })
    this.observed.areRows = lines.offered !== undefined
    Object.assign(this.offered, lines.offered)
    for (const [name, words] of lines.lacking ?? [])
      this.lacking.set(name, [...new Set([...(this.lacking.get(name) ?? []), ...words])])
    let number = 0
    let line = 0
    for await (const text of linesOf(lines, format)) {
      line += 1
      if (text.trim() === '') continue
      number += 1
      this.#take(text, lines.kind, `${source.name}, ${lines.kind === 'lines' ? `line ${line}` : `document ${number}`}`)
      if (number >= this.#most) return
    }
  }

  #take(text: string, kind: Lines['kind'], place: string): void {
    // A deletion has no document.
    if (text.startsWith(`${MARK}delete`)) return
    const json = kind === 'actions' ? text.slice(text.indexOf(MARK, 1) + 1) : text
    const document = parseExactly(json)
    if (isObject(document)) return this.observed.add(document, place)
    const what = text.startsWith(REFUSED) ? 'row' : kind === 'lines' ? 'line' : 'document'
    const seen = this.unreadable.get(what)
    if (seen === undefined) this.unreadable.set(what, { count: 1, first: place })
    else seen.count += 1
  }
}

const MARK = String.fromCodePoint(ACTION_MARK)
/** How a row of a table begins that gives no document. */
const REFUSED = refusedLineStart('DOCUMENT_ROW_INVALID', '').toString().slice(0, -1)

/** Longer lines are no documents that a cluster takes. */
const LONGEST = 100 << 20

/** Yields lines as they are, or of `--format text` as the documents that a load makes of them. */
async function* linesOf({ bytes }: Lines, format: Format): AsyncGenerator<string> {
  const isText = format === 'text'
  for await (const line of textsOf(bytes))
    yield isText && line.trim() !== '' ? JSON.stringify({ message: line.replace(/\r$/, '') }) : line
}

async function* textsOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of bytes) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    if (rest.length > LONGEST) rest = ''
    yield* parts
  }
  if (rest !== '') yield rest
}

/** What a load would make of an input. */
interface LookedAt {
  readonly name: string
  /** How it would be read. */
  readonly found: string
  /** The first documents, as they would be stored. */
  readonly documents: readonly string[]
  /** How many documents and rejected ones were read. */
  readonly read: number
  /** Whether that is the whole input. */
  readonly isWhole: boolean
  readonly rejected: readonly Rejected[]
  /** Types that columns of text could have. */
  readonly offered: Readonly<Record<string, string>>
  /** Whether its documents have ids of their own, as in a dump. */
  readonly isDump: boolean
}

interface Rejected {
  /** Without line and value, so that equal ones are counted. */
  readonly reason: string
  readonly documents: number
  /** The reason of the first one, with its line and value. */
  readonly first: string
}

/** Documents that are shown of each input. */
const SHOWN = 3

/** What a load would make of inputs, and a mapping for them. */
export interface LookOfInputs {
  readonly inputs: readonly LookedAt[]
  readonly mapping: InferredMapping
}

/**
 * Reads the first documents of inputs as a load with the same options does, and proposes a mapping for them. Sends nothing.
 * `elsewhere`: finds inputs on servers.
 *
 * @throws SluiceError OPTION_INVALID, INPUT_*
 */
export async function lookAt(options: InferOptions, elsewhere?: Elsewhere): Promise<LookOfInputs> {
  const checked = checkInferOptions(options)
  const { source, stdin, sample = SAMPLE, signal = new AbortController().signal } = checked
  const where = { elsewhere, signal, ...(stdin === undefined ? {} : { stdin }) }
  const inputs: LookedAt[] = []
  const mapping = new Sample(sample === 0 ? Infinity : sample)
  for (const one of await findSources(source, where)) {
    using bytes = new BytesTwice(one, signal)
    inputs.push(await lookAtOne(one, bytes.open(), checked))
    if (!mapping.isFull) await mapping.read(one, bytes.open(), checked)
  }
  return { inputs, mapping: proposed(mapping, inputs.length, checked.csv) }
}

/** Reads an input twice. Of one that is no file of this machine, it keeps what the first reading took. */
class BytesTwice implements Disposable {
  readonly #source: Source
  readonly #signal: AbortSignal
  readonly #kept: Buffer[] = []
  #rest: AsyncIterator<Uint8Array> | undefined

  constructor(source: Source, signal: AbortSignal) {
    this.#source = source
    this.#signal = signal
  }

  open(): AsyncIterable<Uint8Array> {
    const { file, name } = this.#source
    return file === undefined || isSourceUrl(name) ? this.#again() : this.#source.open(this.#signal)
  }

  /** A stream that still waits for bytes need not end. */
  [Symbol.dispose](): void {
    this.#rest?.return?.().catch(() => undefined)
  }

  async *#again(): AsyncGenerator<Uint8Array> {
    for (const chunk of this.#kept) yield Buffer.from(chunk)
    this.#rest ??= this.#source.open(this.#signal)[Symbol.asyncIterator]()
    for (let next = await this.#rest.next(); next.done !== true; next = await this.#rest.next()) {
      this.#kept.push(Buffer.from(next.value))
      yield next.value
    }
  }
}

async function lookAtOne(
  source: Source,
  bytes: AsyncIterable<Uint8Array>,
  { format = 'auto', pick, csv, members, sheet, sample = SAMPLE }: InferOptions,
): Promise<LookedAt> {
  const notes: string[] = []
  const note = (_: string, what: string) => void notes.push(what)
  const how = { format, pick, members, sheet, csv: asProposed(csv), showsCells: true }
  const lines = await decode(source, bytes, how, note)
  const documents: string[] = []
  const rejected = new Map<string, { documents: number; first: string }>()
  const most = sample === 0 ? Infinity : sample
  let read = 0
  let line = 0
  for await (const text of linesOf(lines, format)) {
    line += 1
    if (text.trim() === '') continue
    if (read === most) return seen(false)
    read += 1
    const { problem, document = '' } = documentIn(text)
    if (problem === undefined && documents.length < SHOWN) documents.push(document)
    if (problem === undefined) continue
    const reason = problem.replace(/^(?:line|row) \d+(?:,|:| has| is)? /, '').replace(/, such as .*$/s, '')
    const place = lines.kind === 'lines' ? `line ${line}: ` : ''
    const same = rejected.get(reason)
    if (same === undefined) rejected.set(reason, { documents: 1, first: place + problem })
    else same.documents += 1
  }
  return seen(true)

  function seen(isWhole: boolean): LookedAt {
    const kinds = [...rejected].map(([reason, { documents: many, first }]) => ({ reason, documents: many, first }))
    const found = [lines.found ?? kindOf(lines, format), ...notes].join('. ')
    const { offered = {}, kind } = lines
    return { name: source.name, found, documents, read, isWhole, rejected: kinds, offered, isDump: kind === 'actions' }
  }
}

function kindOf({ kind }: Lines, format: Format): string {
  if (format === 'text') return 'text: each line is a document with the field message'
  return kind === 'lines' ? 'NDJSON: each line is a document' : 'JSON'
}

function documentIn(text: string): { readonly problem?: string; readonly document?: string } {
  const bytes = Buffer.from(text)
  const refused = refusedLineIn(bytes, 0, bytes.length)
  if (refused !== undefined) return { problem: refused.problem }
  // A deletion has no document.
  if (text.startsWith(`${MARK}delete`)) return { document: '(a deletion)' }
  const document = text.startsWith(MARK) ? text.slice(text.indexOf(MARK, 1) + 1) : text
  return isObject(parseExactly(document)) ? { document: document.trim() } : { problem: 'not a JSON object' }
}
