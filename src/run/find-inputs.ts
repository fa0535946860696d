/** What is to be loaded: files, streams and iterables, or tables of the service-management platform. */
import type { Source } from '../flow.js'
import type { IngestOptions } from '../options/ingest-options.js'
import type { Instance } from '../servicenow/instance.js'
import { findSources } from '../source/open-sources.js'
import { tablesIn } from '../options/table-names.js'

/** The platform that tables are read from, as the load sees it. Nothing is connected before it is probed or a table is read. */
export interface Platform extends AsyncDisposable {
  /** Scheme, host and port. */
  readonly display: string
  readonly sources: readonly Source[]
  /** For what is asked beside the tables' rows. */
  readonly instance: Instance
  /** Over the wire, with TLS. */
  readonly traffic: { readonly connections: number; readonly bytesSent: number; readonly bytesReceived: number }
  /** Before the first row is read: whether the platform lets us in, from each address. Resolves to what there is to tell. */
  probe(signal: AbortSignal): Promise<readonly string[]>
}

/** Throws SluiceError OPTION_INVALID, PROXY_URL_INVALID, PROXY_NOT_USED. */
export type OpenPlatform = (tables: readonly string[], options: IngestOptions) => Promise<Platform>

export interface Inputs {
  readonly sources: readonly Source[]
  /** Where they are tables. The caller's to dispose of. */
  readonly platform?: Platform
}

/** Throws SluiceError as `findSources` and `open` do. `open`: absent where a table is no input, but the name of a file. */
export async function findInputs(options: IngestOptions, open: OpenPlatform | undefined): Promise<Inputs> {
  const tables = open === undefined ? [] : tablesIn(options.source)
  if (open !== undefined && tables.length > 0) {
    const platform = await open(tables, options)
    return { sources: platform.sources, platform }
  }
  return { sources: await findSources(options.source, options.stdin === undefined ? {} : { stdin: options.stdin }) }
}
