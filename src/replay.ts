import { isBlank } from './bulk/check-line.js'
import { HEAD_BYTES, readDeadLetter, readLongHead } from './bulk/dead-letter.js'
import { wholeLines } from './bulk/whole-lines.js'
import { checkReplayOptions } from './check-replay-options.js'
import { failure } from './failure/failure.js'
import { SluiceError } from './failure/sluice-error.js'
import type { Source } from './flow.js'
import { type DecodeOptions, decode } from './format/decode.js'
import type { IngestOptions } from './ingest-options.js'
import { run } from './ingest.js'
import type { Receipt } from './ledger/receipt.js'
import { findSources } from './source/open-sources.js'
import { systemClock } from './system-clock.js'

/** What the dead letters say themselves. */
type Said = 'op' | 'ids' | 'idField' | 'routingField' | 'format' | 'pick'
/** Dead letters go to the index that the others are in, not to a fresh one. */
type Guarded = 'swapAlias' | 'indexBody' | 'checkQuery' | 'checkHits'

/** Dead letters, where to, and how. */
export interface ReplayOptions extends Omit<IngestOptions, 'source' | Said | Guarded> {
  /** Paths, globs, or `-` (with `stdin` and `index`): files that `ingest` or `replay` wrote, gzip or not. */
  readonly source: string | readonly string[]
  /** Where all of them go. Default: each to the index that it was meant for. */
  readonly index?: string | undefined
  /** Ingest pipeline for all of them. Default: for each the one that it was meant for. */
  readonly pipeline?: string | undefined
}

/**
 * Sends dead letters again: each document byte for byte, with the operation, id and routing that it had. What is refused again
 * goes to new dead letters, with its first origin and the attempts added up. One that was stored meanwhile under an id of Sluice's
 * own counts as `duplicate`. Files are never changed or deleted.
 *
 * ```ts
 * const receipt = await replay({ source: 'sluice-dead-letters-*.ndjson', target: { url, apiKey }, proxy })
 * ```
 * @throws SluiceError as `ingest` does; besides, INPUT_MALFORMED for a file without any dead letter, before anything is sent.
 */
export async function replay(options: ReplayOptions): Promise<Receipt> {
  checkReplayOptions(options)
  const { index, pipeline, stdin } = options
  const sources = await findSources(options.source, stdin === undefined ? {} : { stdin })
  const meant = await indexIn(sources, index)
  const target = index ?? meant
  if (target === undefined) {
    const problem = `is not set, and ${sources.map(({ name }) => name).join(', ')} holds no dead letter that names one`
    throw new SluiceError(failure('OPTION_INVALID', { option: 'index', problem }))
  }
  const replaying = { ...(index === undefined ? {} : { index }), ...(pipeline === undefined ? {} : { pipeline }) }
  // Ids stand in the dead letters; those that have none get one of the cluster's.
  return await run({ ...options, ...format, index: target }, { from: 'cluster' }, replaying)
}

const format = { format: 'ndjson' } as const satisfies DecodeOptions

/** The index that the first dead letter names. Each file is looked at: one that holds none is something else. */
async function indexIn(sources: readonly Source[], index: string | undefined): Promise<string | undefined> {
  let found: string | undefined
  for (const source of sources) {
    if (source.file === undefined) {
      if (index !== undefined) continue
      const problem = `is not set, and ${source.name} can be read only once`
      throw new SluiceError(failure('OPTION_INVALID', { option: 'index', problem }))
    }
    const first = await firstLetter(source)
    found ??= first?.index
  }
  return found
}

/** So many lines may be broken before the first one that is a dead letter. */
const LINES = 1000
/** Longer than any record that has to be held to be understood. */
const LONG_BYTES = 16 << 20

/** The first dead letter of a file, undefined where it is empty. Throws SluiceError INPUT_MALFORMED where it holds others alone. */
async function firstLetter(source: Source): Promise<{ readonly index?: string } | undefined> {
  const where = { input: source.name, document: 1 }
  let problem: string | undefined
  let head = Buffer.alloc(0)
  let lines = 0
  const decoded = await decode(source, source.open(new AbortController().signal), format)
  const pieces = wholeLines(decoded.bytes, { maxLineBytes: LONG_BYTES, lateMs: 2 ** 31 - 1, clock: systemClock })
  for await (const piece of pieces) {
    if (piece.kind === 'late') continue
    if (piece.kind === 'long') {
      head = Buffer.concat([head, piece.bytes])
      if (head.length < HEAD_BYTES && !piece.ends) continue
      const long = readLongHead(head)
      if (long !== undefined) return long.recorded.destination
      problem ??= 'it has no operation and origin at its start'
      break
    }
    for (let from = 0; from < piece.bytes.length && lines < LINES;) {
      const lineFeed = piece.bytes.indexOf(LINE_FEED, from)
      const to = lineFeed === -1 ? piece.bytes.length : lineFeed + 1
      const line = piece.bytes.subarray(from, to)
      from = to
      if (isBlank(line, 0, line.length)) continue
      const letter = readDeadLetter(line, where)
      if (!('problem' in letter)) return letter.destination
      problem ??= letter.problem
      lines += 1
    }
    if (lines >= LINES) break
  }
  if (problem === undefined) return undefined
  throw new SluiceError(
    failure('INPUT_MALFORMED', {
      input: source.name,
      format: 'dead-letter NDJSON',
      problem: `no line of it is a dead letter; of the first, ${problem}`,
    }),
  )
}

const LINE_FEED = 0x0a
