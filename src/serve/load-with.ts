import { checkFreshCredentials } from '../options/check-ingest-options.js'
import type { IngestOptions } from '../options/ingest-options.js'
import { proxySection } from '../options/read-options.js'
import type { ServeOptions } from './serve-options.js'

/** How long one bulk request may be refused or unanswered: then the way is opened anew, which names what is in the way. */
const MAX_ELAPSED_MS = 60_000

/**
 * What one part of the spool is loaded with: the options of the receiver that are also those of a load, with the credentials as they are
 * now.
 */
export async function loadWith(
  options: ServeOptions,
  more: Pick<IngestOptions, 'stateDir' | 'signal' | 'graceMs'>,
): Promise<Omit<IngestOptions, 'source'>> {
  const {
    token: _token,
    listen: _listen,
    tls: _tls,
    path: _path,
    maxBody: _maxBody,
    spoolLimit: _spoolLimit,
    acceptAnyway: _acceptAnyway,
    onEvent: _onEvent,
    refreshCredentials,
    ...load
  } = options
  // Where a file is missing for the moment in which it is replaced, the old ones are tried again.
  const { proxy, ...fresh } = (await askFor(refreshCredentials)) ?? {}
  const target = { ...load.target, ...present(fresh) }
  return {
    ...load,
    ...more,
    target,
    ...(proxy === undefined ? {} : { proxy: { ...proxySection(load.proxy), url: proxy } }),
    deadLetters: load.deadLetters ?? `sluice-dead-letters-serve-${load.index}.ndjson`,
    maxElapsedMs: MAX_ELAPSED_MS,
  }
}

async function askFor(refresh: ServeOptions['refreshCredentials']) {
  try {
    const fresh = await refresh?.()
    if (fresh !== undefined) checkFreshCredentials(fresh)
    return fresh
  } catch {
    return undefined
  }
}

function present<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>
}
