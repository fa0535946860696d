/** Dead letters, composed as a load: what each says of itself takes the place of options. */
import { completed, noted, type OverConnection } from './route/connect/over-connection.js'
import { fail, isSluiceError, SluiceError } from './base/failure/failure.js'
import type { Receipt } from './pipeline/ledger/receipt.js'
import { featuresOf, sharedOf } from './features/features-of.js'
import { checkReplayOptions } from './options/check-options.js'
import type { ReplayOptions } from './options/ingest-options.js'
import { secretsOf } from './base/secrets.js'
import { loadOf } from './options/read-options.js'
import { run } from './run/loop/run.js'
import { findSources } from './pipeline/source/open-sources.js'
import { keptSegments } from './features/spool/segments.js'
import { readLetters } from './pipeline/bulk/dead-letter.js'
import type { Source } from './base/flow.js'
import { decode } from './pipeline/format/decode.js'
import { systemClock } from './base/time/clock.js'

/**
 * Sends dead letters again: each document byte for byte, with its original operation, id and routing. Documents that are rejected again go
 * to new dead letters, with their first origin and the sum of their attempts. A document that is already stored under Sluice's own id
 * counts as `duplicate`. Sluice never changes or deletes the files.
 *
 * ```ts
 * const receipt = await replay({ source: 'sluice-dead-letters-*.ndjson', target: { url, apiKey }, proxy })
 * ```
 * @throws SluiceError as `ingest` does, and NOT_DEAD_LETTERS for a file without any dead letter, before anything is
 * sent.
 */
export async function replay(options: OverConnection<ReplayOptions>): Promise<Receipt>
export async function replay(options: ReplayOptions): Promise<Receipt>
export async function replay(given: ReplayOptions | OverConnection<ReplayOptions>): Promise<Receipt> {
  const options = completed(given)
  return await noted(options, async () => await replayLetters(options))
}

async function replayLetters(options: ReplayOptions): Promise<Receipt> {
  checkReplayOptions(options)
  const { index, pipeline, stdin } = options
  const sources = await findSources(options.source, stdin === undefined ? {} : { stdin })
  const meant = await meantIndex(sources, index)
  const target = index ?? meant
  if (target === undefined) {
    const problem = `is not set, and ${sources.map(({ name }) => name).join(', ')} holds no dead letter that names one`
    throw fail('OPTION_INVALID', { option: 'index', problem })
  }
  const to = { ...(index === undefined ? {} : { index }), ...(pipeline === undefined ? {} : { pipeline }) }
  // Ids stand in the dead letters. The cluster makes one for each that has none.
  const load = loadOf({ ...options, ...letterFormat, index: target }, { from: 'cluster' })
  const shared = sharedOf(load, load.state.stateDir)
  return await run({
    command: 'replay',
    secrets: secretsOf(load),
    load,
    listCopies: keptSegments,
    ...(await featuresOf('replay', { load, shared, spans: { name: 'sluice replay', index }, to })),
  })
}

/** The format of dead letters. */
const letterFormat = { format: 'ndjson' } as const

/**
 * Returns the index that the first dead letter names. `index`: where all of them go. Looks at each file.
 * Throws SluiceError NOT_DEAD_LETTERS for a file that holds something else, OPTION_INVALID for stdin without an index.
 */
async function meantIndex(sources: readonly Source[], index: string | undefined): Promise<string | undefined> {
  let found: string | undefined
  for (const source of sources) {
    if (source.file === undefined) {
      if (index !== undefined) continue
      const problem = `is not set, and ${source.name} can be read only once`
      throw fail('OPTION_INVALID', { option: 'index', problem })
    }
    const first = await firstLetter(source)
    found ??= first?.index
  }
  return found
}

/** Broken lines that are allowed before the first dead letter. */
const LINES = 1000

/** Returns the first dead letter of a file, or undefined if the file is empty. Throws SluiceError NOT_DEAD_LETTERS if it holds none. */
async function firstLetter(source: Source): Promise<{ readonly index?: string } | undefined> {
  const opened = decode(source, source.open(new AbortController().signal), letterFormat)
  const { kind, bytes } = await opened.catch((error: unknown) => {
    const isMalformed = isSluiceError(error) && error.code === 'INPUT_MALFORMED'
    throw isMalformed
      ? notDeadLetters(source, String(error.failure.evidence['problem']).replace(/^is not valid \w+: /, ''))
      : error
  })
  let problem: string | undefined
  let lines = 0
  for await (const letter of readLetters(source.name, bytes, systemClock)) {
    // Positions in such a file are no positions in its text.
    if (kind !== 'lines') throw notDeadLetters(source, 'it is UTF-16 text. Convert it to UTF-8')
    if (!('problem' in letter)) return letter.destination
    problem ??= letter.problem
    lines += 1
    if (lines >= LINES || ('isLong' in letter && letter.isLong)) break
  }
  if (problem === undefined) return undefined
  throw notDeadLetters(source, `none of its lines is a dead letter. The first line: ${problem}`)
}

function notDeadLetters({ name: input }: Source, problem: string): SluiceError {
  return fail('NOT_DEAD_LETTERS', { input, problem })
}
