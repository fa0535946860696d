import type { Source } from '../flow.js'
import type { Load, TableSection } from '../options/load.js'
import type { Instance } from '../servicenow/instance.js'

/** The platform that tables are read from, as a load sees it. Connects to nothing before it is probed or a table is read. */
export interface Platform extends AsyncDisposable {
  /** Scheme, host and port. */
  readonly display: string
  readonly sources: readonly Source[]
  /** For requests beside the rows of tables. */
  readonly instance: Instance
  /** Over the wire, with TLS. */
  readonly traffic: { readonly connections: number; readonly bytesSent: number; readonly bytesReceived: number }
  /** Checks that the platform accepts connections from each address. Resolves to notes. */
  probe(signal: AbortSignal): Promise<readonly string[]>
}

/** Throws SluiceError OPTION_INVALID, PROXY_URL_INVALID, PROXY_NOT_USED. */
export type OpenPlatform = (
  tables: TableSection,
  load: Pick<Load, 'connecting' | 'retrying'>,
  warn: (message: string) => void,
) => Promise<Platform>
