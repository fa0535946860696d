/** The service-management platform for an embedder: `sluice/servicenow`. */
export {
  type PageOptions,
  type RecordOptions,
  type Row,
  type ServiceNow,
  type ServiceNowConnection,
  type Table,
  connectServiceNow,
} from './connect/connect-servicenow.js'
export { SluiceError, isSluiceError } from './failure/sluice-error.js'
export type { ProxyOptions, ServiceNowOptions, TableOptions } from './options/ingest-options.js'
export {
  type PullFileOptions,
  type PullOptions,
  type Pulled,
  type PulledFile,
  pull,
  pullLines,
  pullToFile,
} from './tables/pull.js'
export type { TableAnswer, TableRequest } from './servicenow/instance.js'
