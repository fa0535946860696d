import { readLetters } from './bulk/read-letters.js'
import { checkReplayOptions } from './options/check-ingest-options.js'
import { fail } from './failure/fail.js'
import { SluiceError, isSluiceError } from './failure/sluice-error.js'
import type { Source } from './flow.js'
import { type DecodeOptions, decode } from './format/decode.js'
import type { ReplayOptions } from './options/ingest-options.js'
import { loadOf } from './options/read-options.js'
import type { Receipt } from './ledger/receipt.js'
import { limitBytes } from './limits/byte-budget.js'
import { learnLimits } from './limits/learnt-limits.js'
import { sendDeadLetters } from './replay/send-dead-letters.js'
import { run } from './run/run.js'
import { spoolStdin } from './spool/spool-stdin.js'
import { findSources } from './source/open-sources.js'
import { systemClock } from './time/system-clock.js'

/**
 * Sends dead letters again: each document byte for byte, with the operation, id and routing that it had. What is refused again
 * goes to new dead letters, with its first origin and the attempts added up. One that was stored meanwhile under an id of Sluice's
 * own counts as `duplicate`. Files are never changed or deleted.
 *
 * ```ts
 * const receipt = await replay({ source: 'sluice-dead-letters-*.ndjson', target: { url, apiKey }, proxy })
 * ```
 * @throws SluiceError as `ingest` does; besides, NOT_DEAD_LETTERS for a file without any dead letter, before anything is sent.
 */
export async function replay(options: ReplayOptions): Promise<Receipt> {
  checkReplayOptions(options)
  const { index, pipeline, stdin } = options
  const sources = await findSources(options.source, stdin === undefined ? {} : { stdin })
  const meant = await indexIn(sources, index)
  const target = index ?? meant
  if (target === undefined) {
    const problem = `is not set, and ${sources.map(({ name }) => name).join(', ')} holds no dead letter that names one`
    throw fail('OPTION_INVALID', { option: 'index', problem })
  }
  const redirection = { ...(index === undefined ? {} : { index }), ...(pipeline === undefined ? {} : { pipeline }) }
  return await run({
    // Ids stand in the dead letters. The cluster makes one for each that has none.
    load: loadOf({ ...options, ...format, index: target }, { from: 'cluster' }),
    // In the order of their endings.
    features: [spoolStdin, sendDeadLetters(redirection), limitBytes, learnLimits],
  })
}

const format = { format: 'ndjson' } as const satisfies DecodeOptions

/** The index that the first dead letter names. Each file is looked at: one that holds none is something else. */
async function indexIn(sources: readonly Source[], index: string | undefined): Promise<string | undefined> {
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

/** So many lines may be broken before the first one that is a dead letter. */
const LINES = 1000

/** The first dead letter of a file, undefined where it is empty. Throws SluiceError NOT_DEAD_LETTERS where it holds others alone. */
async function firstLetter(source: Source): Promise<{ readonly index?: string } | undefined> {
  const opened = decode(source, source.open(new AbortController().signal), format)
  const { bytes } = await opened.catch((error: unknown) => {
    const isMalformed = isSluiceError(error) && error.code === 'INPUT_MALFORMED'
    throw isMalformed ? notDeadLetters(source, String(error.failure.evidence['problem'])) : error
  })
  let problem: string | undefined
  let lines = 0
  for await (const letter of readLetters(source.name, bytes, systemClock)) {
    if (!('problem' in letter)) return letter.destination
    problem ??= letter.problem
    lines += 1
    if (lines >= LINES || ('isLong' in letter && letter.isLong)) break
  }
  if (problem === undefined) return undefined
  throw notDeadLetters(source, `none of its lines is a dead letter. In the first line, ${problem}`)
}

function notDeadLetters({ name: input }: Source, problem: string): SluiceError {
  return fail('NOT_DEAD_LETTERS', { input, problem })
}
