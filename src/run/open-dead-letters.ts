import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Destination, Source } from '../flow.js'
import type { IngestOptions } from '../options/ingest-options.js'
import { DeadLetters } from '../ledger/dead-letters.js'
import type { Plan } from '../state/plan-run.js'
import { takeBack } from '../ledger/take-back.js'
import { randomToken } from '../state/token.js'
import { keepApart } from './keep-apart.js'

/** Dead letters that can be written, and are no input. Those that a resume will write again are taken out of the file first. */
export async function openDeadLetters(
  options: IngestOptions,
  sources: readonly Source[],
  run: string,
  before: {
    readonly from?: Plan['deadLetters']
    readonly index?: string
    warn?(message: string): void
  } = {},
): Promise<DeadLetters> {
  const { from, index = intoOf(options) } = before
  const destination = destinationOf(index, options)
  const deadLetters = new DeadLetters(deadLettersPath(options, run), { run, writer: randomToken(), destination })
  await keepApart(sources, deadLetters.path)
  if (from !== undefined) {
    await tellMoved(from, deadLetters.path, before.warn)
    if (from.writer !== undefined) await takeBack(from.path, from.length, { run, writer: from.writer })
  }
  await deadLetters.check()
  return deadLetters
}

/** The name that the user gave: of what is loaded into, or of the alias that will be switched to it. */
export function intoOf({ index, swapAlias }: IngestOptions): string {
  return index ?? swapAlias ?? ''
}

function deadLettersPath({ deadLetters, dryRun }: IngestOptions, run: string): string | undefined {
  if (dryRun === true || deadLetters === false) return undefined
  return deadLetters ?? `sluice-dead-letters-${run}.ndjson`
}

/** What a replay has to know of documents that were refused. */
function destinationOf(index: string, { pipeline, idField, routingField }: IngestOptions): Destination {
  return {
    index,
    ...(pipeline === undefined ? {} : { pipeline }),
    ...(idField === undefined ? {} : { idField }),
    ...(routingField === undefined ? {} : { routingField }),
  }
}

/** What a resume cannot put right: refused documents of before stand elsewhere, or nowhere. */
async function tellMoved(
  { path, length }: NonNullable<Plan['deadLetters']>,
  now: string | undefined,
  warn: ((message: string) => void) | undefined,
): Promise<void> {
  if (length === 0) return
  const size = await stat(path).then(
    found => found.size,
    () => 0,
  )
  if (size < length) warn?.(`the documents that were refused before are not, or not all, in ${path} any more`)
  else if (now === undefined || resolve(now) !== path) warn?.(`the documents that were refused before stay in ${path}`)
}
