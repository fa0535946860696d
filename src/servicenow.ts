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
} from './options/connect-options.js'
export type { PullFileOptions, PulledFile } from './tables/pull.js'
export type { TableAnswer, TableRequest } from './servicenow/instance.js'
export type { Row } from './servicenow/table/row.js'
import { loadedAtCall, snapshot } from './options/snapshot.js'

const connectServiceNow: typeof import('./connect/connect-servicenow.js').connectServiceNow = loadedAtCall(
  async () => (await import('./connect/connect-servicenow.js')).connectServiceNow,
)

const pull: typeof import('./tables/pull.js').pull = (...given) => {
  const options = snapshot(given)
  return (async function* () {
    yield* (await import('./tables/pull.js')).pull(...options)
  })()
}

const pullLines: typeof import('./tables/pull.js').pullLines = (...given) => {
  const options = snapshot(given)
  return (async function* () {
    yield* (await import('./tables/pull.js')).pullLines(...options)
  })()
}

const pullToFile: typeof import('./tables/pull.js').pullToFile = loadedAtCall(
  async () => (await import('./tables/pull.js')).pullToFile,
)

export { connectServiceNow, pull, pullLines, pullToFile }
