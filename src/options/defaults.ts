/** The value of each option of the library that nobody set. */
export const defaults = {
  concurrency: 16,
  preflightConnections: 16,
  timeoutMs: 120_000,
  maxElapsedMs: 900_000,
  op: 'create',
  ids: 'run',
  format: 'auto',
  onConflict: 'reject',
  batchBytes: 5_000_000,
  batchMs: 1000,
  compress: 'auto',
  graceMs: 25_000,
  blockWaitMs: 1_800_000,
  checkHits: 1,
  displayValue: 'false',
  pageSize: 1000,
  maxDeleted: '10%',
} as const

export const DEFAULT_CONCURRENCY = defaults.concurrency
export const DEFAULT_TIMEOUT_MS = defaults.timeoutMs
export const DEFAULT_MAX_ELAPSED_MS = defaults.maxElapsedMs
