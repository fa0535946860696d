/** Connections that a pool may have: each is opened when it is first needed. */
export const DEFAULT_CONCURRENCY = 16
/** For one request. */
export const DEFAULT_TIMEOUT_MS = 120_000
/** How long one request may be refused in a way that may pass. */
export const DEFAULT_MAX_ELAPSED_MS = 900_000
