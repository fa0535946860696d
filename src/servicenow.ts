/** The service-management platform for an embedder: `sluice/servicenow`. Loads a function with its first call. */
export type { PageOptions, RecordOptions, ServiceNow, Table } from './connect/connect-servicenow.js'
export { SluiceError, isSluiceError } from './failure/failure.js'
export type {
  ProxyOptions,
  PullOptions,
  Pulled,
  ServiceNowConnection,
  ServiceNowOptions,
  TableOptions,
} from './options/ingest-options.js'
export type { PullFileOptions, PulledFile } from './tables/pull.js'
export type { TableAnswer, TableRequest } from './servicenow/instance.js'
export type { Row } from './servicenow/table/row.js'

const connectServiceNow: typeof import('./connect/connect-servicenow.js').connectServiceNow = async (...given) =>
  await (await import('./connect/connect-servicenow.js')).connectServiceNow(...given)

const pull: typeof import('./tables/pull.js').pull = async function* (...given) {
  yield* (await import('./tables/pull.js')).pull(...given)
}

const pullLines: typeof import('./tables/pull.js').pullLines = async function* (...given) {
  yield* (await import('./tables/pull.js')).pullLines(...given)
}

const pullToFile: typeof import('./tables/pull.js').pullToFile = async (...given) =>
  await (await import('./tables/pull.js')).pullToFile(...given)

export { connectServiceNow, pull, pullLines, pullToFile }
