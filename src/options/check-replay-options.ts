import { checkConnectOptions } from './check-ingest-options.js'
import { invalid } from './candidate.js'
import { indexNameProblem } from './names.js'
import type { IngestOptions, ReplayOptions } from './ingest-options.js'
import { fail } from '../failure/fail.js'

const said = 'is no option of replay: the dead letters say it'
const guarded = 'is no option of replay: dead letters go to the index that the others are in'

/** Options of `ingest` alone, and why. */
const others: Readonly<Record<Exclude<keyof IngestOptions, keyof ReplayOptions>, string>> = {
  op: said,
  ids: said,
  idField: said,
  routingField: said,
  format: said,
  pick: said,
  swapAlias: guarded,
  indexBody: guarded,
  checkQuery: guarded,
  checkHits: guarded,
}

/** Throws SluiceError OPTION_INVALID, INDEX_NAME_INVALID. */
export function checkReplayOptions(given: ReplayOptions): void {
  const { source, index, spool, stateDir } = given
  const values: Readonly<Record<string, unknown>> = { ...given }
  for (const [name, problem] of Object.entries(others)) if (values[name] !== undefined) throw invalid(name, problem)
  checkConnectOptions(given)
  if (spool === true && stateDir === undefined) throw invalid('spool', 'needs stateDir, where it is written')
  const names: readonly unknown[] = Array.isArray(source) ? source : [source]
  if (names.length === 0 || names.some(name => typeof name !== 'string' || name === ''))
    throw invalid('source', 'is not a path of dead letters, or an array of them')
  if (index === undefined) return
  const problem = indexNameProblem(index)
  if (problem !== undefined) throw fail('INDEX_NAME_INVALID', { index, problem })
}
