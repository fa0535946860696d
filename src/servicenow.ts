/** The service-management platform for an embedder: `sluice/servicenow`. Loads a function with its first call. */
export type { PageOptions, RecordOptions, ServiceNow, Table } from './route/connect/open-servicenow.js'
export { SluiceError, isSluiceError } from './base/failure/failure.js'
export type {
  ProxyOptions,
  PullOptions,
  Pulled,
  ServiceNowConnection,
  ServiceNowOptions,
  TableOptions,
} from './options/connect-options.js'
export type { PullFileOptions, PulledFile } from './features/tables/pull.js'
export type { TableAnswer, TableRequest, Row } from './route/servicenow/instance.js'
import { loadedAtCall, snapshot } from './base/caller.js'

const connectServiceNow: typeof import('./route/connect/open-servicenow.js').connectServiceNow = loadedAtCall(
  async () => (await import('./route/connect/open-servicenow.js')).connectServiceNow,
)

const pull: typeof import('./features/tables/pull.js').pull = (...given) => {
  const options = snapshot(given)
  return (async function* () {
    yield* (await import('./features/tables/pull.js')).pull(...options)
  })()
}

const pullLines: typeof import('./features/tables/pull.js').pullLines = (...given) => {
  const options = snapshot(given)
  return (async function* () {
    yield* (await import('./features/tables/pull.js')).pullLines(...options)
  })()
}

const pullToFile: typeof import('./features/tables/pull.js').pullToFile = loadedAtCall(
  async () => (await import('./features/tables/pull.js')).pullToFile,
)

export { connectServiceNow, pull, pullLines, pullToFile }
