/** Any Elasticsearch client through the static-IP proxy: `sluice/connection`. Loads no client. */
export { connectionThrough, type ThroughOptions } from './route/connect/connection-through.js'
export type { ConnectionClass } from './route/cluster/node-connection.js'
export { SluiceError, isSluiceError } from './base/failure/failure.js'
