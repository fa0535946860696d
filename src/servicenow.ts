/** The service-management platform for an embedder: `sluice/servicenow`. */
export {
  type PageOptions,
  type RecordOptions,
  type ServiceNow,
  type Table,
  connectServiceNow,
} from './connect/connect-servicenow.js'
export { SluiceError, isSluiceError } from './failure/failure.js'
export type {
  ProxyOptions,
  PullOptions,
  Pulled,
  ServiceNowConnection,
  ServiceNowOptions,
  TableOptions,
} from './options/ingest-options.js'
export { type PullFileOptions, type PulledFile, pull, pullLines, pullToFile } from './tables/pull.js'
export type { TableAnswer, TableRequest } from './servicenow/instance.js'
export type { Row } from './servicenow/table/row.js'
