/** Dead letters, composed as a load: what each says of itself takes the place of options. */
import { completed, noted, type OverConnection } from './route/connect/over-connection.js'
import { fail } from './base/failure/failure.js'
import type { Receipt } from './pipeline/ledger/receipt.js'
import { featuresOf, sharedOf } from './features/features-of.js'
import { checkReplayOptions } from './options/check-options.js'
import type { ReplayOptions } from './options/ingest-options.js'
import { secretsOf } from './base/secrets.js'
import { loadOf } from './options/read-options.js'
import { letterFormat, meantIndex } from './features/replay/meant-index.js'
import { run } from './run/loop/run.js'
import { findSources } from './pipeline/source/open-sources.js'
import { keptSegments } from './features/spool/segments.js'

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
