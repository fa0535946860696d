import type { Fault } from './answers.js'

/** Returns why Elasticsearch refuses the name of a new index. Undefined for a valid name. */
export function indexNameFault(index: string): Fault | undefined {
  const problem = problemOf(index)
  if (problem === undefined) return undefined
  return {
    status: 400,
    type: 'invalid_index_name_exception',
    reason: `Invalid index name [${index}], ${problem}`,
    more: { index_uuid: '_na_', index },
  }
}

function problemOf(index: string): string | undefined {
  if (index === '') return 'must not be empty'
  if (/[ "*,/<>?\\|]/.test(index)) {
    return String.raw`must not contain the following characters [' ','"','*',',','/','<','>','?','\','|']`
  }
  if (index.includes('#')) return "must not contain '#'"
  if (index.includes(':')) return "must not contain ':'"
  if (/^[_+-]/.test(index)) return "must not start with '_', '-', or '+'"
  const bytes = Buffer.byteLength(index)
  if (bytes > 255) return `index name is too long, (${bytes} > 255)`
  if (index === '.' || index === '..') return "must not be '.' or '..'"
  if (index !== index.toLowerCase()) return 'must be lowercase'
  return undefined
}
