/** Any Elasticsearch client through the static-IP proxy: `sluice/connection`. Loads no client. */
export { type ConnectionClass, connectionThrough, type ThroughOptions } from './route/connect/connection-through.js'
export { SluiceError, isSluiceError } from './base/failure/failure.js'
