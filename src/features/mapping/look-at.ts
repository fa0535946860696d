import type { Lines, Source } from '../../base/flow.js'
import { ACTION_MARK, refusedLineIn } from '../../base/text/bytes.js'
import { isObject } from '../../base/json/parse-json.js'
import { checkInferOptions } from '../../options/check-options.js'
import { decode } from '../../pipeline/format/decode.js'
import { findSources } from '../../pipeline/source/open-sources.js'
import { inferMapping, type InferOptions, type InferredMapping, linesOf, SAMPLE } from './infer-mapping.js'
import { parseExactly } from './value-kinds.js'

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

/**
 * Reads the first documents of files as a load with the same options does, and proposes a mapping for them. Sends nothing.
 *
 * @throws SluiceError OPTION_INVALID, INPUT_*
 */
export async function lookAt(
  options: Omit<InferOptions, 'stdin'>,
): Promise<{ readonly inputs: readonly LookedAt[]; readonly mapping: InferredMapping }> {
  checkInferOptions(options)
  const inputs: LookedAt[] = []
  for (const source of await findSources(options.source, {})) inputs.push(await lookAtOne(source, options))
  return { inputs, mapping: await inferMapping(options) }
}

async function lookAtOne(
  source: Source,
  { format = 'auto', pick, csv, members, sample = SAMPLE, signal = new AbortController().signal }: InferOptions,
): Promise<LookedAt> {
  const notes: string[] = []
  const note = (_: string, what: string) => void notes.push(what)
  const how = { format, pick, members, csv, showsCells: true }
  const lines = await decode(source, source.open(signal), how, note)
  const documents: string[] = []
  const rejected = new Map<string, { documents: number; first: string }>()
  const most = sample === 0 ? Infinity : sample
  let read = 0
  let line = 0
  for await (const text of linesOf(lines)) {
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
    const found = [lines.found ?? kindOf(lines), ...notes].join('. ')
    return { name: source.name, found, documents, read, isWhole, rejected: kinds }
  }
}

function kindOf({ kind }: Lines): string {
  return kind === 'lines' ? 'NDJSON: each line is a document' : 'JSON'
}

const MARK = String.fromCodePoint(ACTION_MARK)

function documentIn(text: string): { readonly problem?: string; readonly document?: string } {
  const bytes = Buffer.from(text)
  const refused = refusedLineIn(bytes, 0, bytes.length)
  if (refused !== undefined) return { problem: refused.problem }
  // A deletion has no document.
  if (text.startsWith(`${MARK}delete`)) return { document: '(a deletion)' }
  const document = text.startsWith(MARK) ? text.slice(text.indexOf(MARK, 1) + 1) : text
  return isObject(parseExactly(document)) ? { document: document.trim() } : { problem: 'not a JSON object' }
}
