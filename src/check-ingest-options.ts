import type { Ids } from './bulk/action-line.js'
import { failure } from './failure/failure.js'
import { SluiceError } from './failure/sluice-error.js'
import type { IngestOptions } from './ingest-options.js'
import { indexNameProblem } from './options/index-name.js'

/** Elasticsearch's default limit of a request (http.max_content_length, 100mb) less room for an action line. */
export const MAX_DOCUMENT_BYTES = 104_857_600 - 4096

/** Where ids come from. Throws SluiceError OPTION_INVALID, INDEX_NAME_INVALID for options that cannot be used together. */
export function checkIngestOptions(options: IngestOptions): Ids {
  const { index, ids = 'run', idField } = options
  if (typeof index !== 'string' || index === '') throw invalid('index', 'is not set')
  const problem = indexNameProblem(index)
  if (problem !== undefined) throw new SluiceError(failure('INDEX_NAME_INVALID', { index, problem }))
  wholeNumber('batchBytes', options.batchBytes, 1000, 100_000_000)
  wholeNumber('batchDocs', options.batchDocs, 1, Number.MAX_SAFE_INTEGER)
  wholeNumber('batchMs', options.batchMs, 1, 2 ** 31 - 1)
  wholeNumber('concurrency', options.concurrency, 1, 256)
  wholeNumber('timeoutMs', options.timeoutMs, 1, 2 ** 31 - 1)
  wholeNumber('maxElapsedMs', options.maxElapsedMs, 0, Number.MAX_SAFE_INTEGER)
  wholeNumber('preflightConnections', options.preflightConnections, 0, 64)
  if (ids !== 'field') {
    if (idField !== undefined) throw invalid('idField', "is used with ids 'field' alone")
    return { from: ids }
  }
  if (idField === undefined) throw invalid('idField', "is needed with ids 'field'")
  return { from: 'field', field: idField }
}

function wholeNumber(option: string, value: number | undefined, least: number, most: number): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least && value <= most)) return
  throw invalid(option, `${value} is not a whole number from ${least} to ${most}`)
}

function invalid(option: string, problem: string): SluiceError {
  return new SluiceError(failure('OPTION_INVALID', { option, problem }))
}
