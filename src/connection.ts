/** Any Elasticsearch client through the static-IP proxy: `sluice/connection`. Loads no client. */
export { connectionThrough, type ThroughOptions } from './connect/connection-through.js'
export type { ConnectionClass } from './cluster/node-connection.js'
export { SluiceError, isSluiceError } from './failure/failure.js'
