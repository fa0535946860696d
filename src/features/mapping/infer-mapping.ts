import type { Lines, Source } from '../../base/flow.js'
import { decode } from '../../pipeline/format/decode.js'
import type { InputOptions } from '../../options/ingest-options.js'
import { checkInferOptions } from '../../options/check-options.js'
import { findSources } from '../../pipeline/source/open-sources.js'
import { ACTION_MARK } from '../../base/text/bytes.js'
import { isObject } from '../../base/json/parse-json.js'
import { parseExactly } from './value-kinds.js'
import { Observations } from './observe.js'
import { type TypeConflict, propose } from './propose.js'

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
  /** Lines that are no JSON object, and the first one. */
  readonly unreadable: { readonly lines: number; readonly first?: string }
  /** Fields in the documents, also those beyond the limit of 10,000. */
  readonly isCut: boolean
}

export const SAMPLE = 10_000

/**
 * Proposes a mapping for documents from a sample of them. Reads every format that `ingest` reads, and sends nothing.
 *
 * @throws SluiceError OPTION_INVALID, INPUT_*
 */
export async function inferMapping(options: InferOptions): Promise<InferredMapping> {
  const { source, stdin, sample = SAMPLE, signal = new AbortController().signal, ...format } = options
  checkInferOptions(options)
  const sources = await findSources(source, stdin === undefined ? {} : { stdin })
  const reading = new Sample(sample === 0 ? Infinity : sample)
  for (const one of sources) await reading.read(one, format, signal)
  const { observed, unreadable, first } = reading
  const { mapping, conflicts, empty } = propose(observed)
  return {
    mappings: mapping,
    conflicts,
    empty,
    documents: observed.documents,
    inputs: sources.length,
    unreadable: { lines: unreadable, ...(first === undefined ? {} : { first }) },
    isCut: observed.isCut,
  }
}

class Sample {
  readonly observed = new Observations()
  unreadable = 0
  first: string | undefined
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  async read(
    source: Source,
    { format = 'auto', pick, csv, members }: Partial<InferOptions>,
    signal: AbortSignal,
  ): Promise<void> {
    // Cells of a table say what they are only if they are read as values. Words such as NA are values to a load without these options.
    const { inferTypes = false, nullValues = inferTypes ? undefined : [] } = csv ?? {}
    const asValues = { ...csv, inferTypes: true, nullValues }
    const lines = await decode(source, source.open(signal), { format, pick, members, csv: asValues })
    let number = 0
    let line = 0
    for await (const text of linesOf(lines)) {
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
    this.unreadable += 1
    this.first ??= place
  }
}

const MARK = String.fromCodePoint(ACTION_MARK)

/** Longer lines are no documents that a cluster takes. */
const LONGEST = 100 << 20

export async function* linesOf({ bytes }: Lines): AsyncGenerator<string> {
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
