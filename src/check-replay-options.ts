import { checkConnectOptions } from './check-ingest-options.js'
import { failure } from './failure/failure.js'
import { SluiceError } from './failure/sluice-error.js'
import { indexNameProblem } from './options/index-name.js'
import type { ReplayOptions } from './replay.js'

/** What stands in each dead letter. */
const said = ['op', 'ids', 'idField', 'routingField', 'format', 'pick']

/** Throws SluiceError OPTION_INVALID, INDEX_NAME_INVALID. */
export function checkReplayOptions(given: ReplayOptions): void {
  const { source, index } = given
  const taken = said.find(name => Object.hasOwn(given, name))
  if (taken !== undefined) throw invalid(taken, 'is no option of replay: the dead letters say it')
  checkConnectOptions(given)
  const names: readonly unknown[] = Array.isArray(source) ? source : [source]
  if (names.length === 0 || names.some(name => typeof name !== 'string' || name === ''))
    throw invalid('source', 'is not a path of dead letters, or an array of them')
  if (index === undefined) return
  const problem = indexNameProblem(index)
  if (problem !== undefined) throw new SluiceError(failure('INDEX_NAME_INVALID', { index, problem }))
}

function invalid(option: string, problem: string): SluiceError {
  return new SluiceError(failure('OPTION_INVALID', { option, problem }))
}
