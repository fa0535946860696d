import { defaults } from '../options/defaults.js'
import type { ConnectSection } from '../options/load.js'
import { readConnecting } from '../options/read-options.js'
import type { Operation } from '../flow.js'
import type { DoctorOptions } from './doctor-options.js'
import { indexNameProblem } from '../options/names.js'
import { fail } from '../failure/fail.js'
import * as check from '../options/option-checks.js'

/** Options that a load does not have. */
const own = { nodes: check.strings, directCheck: check.flag, writeCheck: check.flag, table: check.name }

/** The doctor's own options, with every default filled in. */
export interface DoctorSection extends Pick<DoctorOptions, 'index' | 'servicenow' | 'table' | 'settings'> {
  readonly connecting: ConnectSection
  readonly op: Operation
  readonly nodes: readonly string[]
  readonly directCheck: boolean
  readonly writeCheck: boolean
}

/** Throws SluiceError OPTION_INVALID, INDEX_NAME_INVALID. */
export function readDoctorOptions(given: DoctorOptions): DoctorSection {
  const { nodes, directCheck, writeCheck, table, settings, ...options } = given
  const { option = 'options', problem } = check.problemIn({ nodes, directCheck, writeCheck, table }, own) ?? {}
  if (problem !== undefined) throw fail('OPTION_INVALID', { option, problem })
  const { index, op = defaults.op, servicenow } = options
  const nameProblem = index === undefined ? undefined : indexNameProblem(index)
  if (nameProblem !== undefined) {
    throw fail('INDEX_NAME_INVALID', { index: String(index), problem: nameProblem })
  }
  return {
    connecting: readConnecting(options),
    index,
    op,
    servicenow,
    table,
    settings,
    nodes: nodes ?? [],
    directCheck: directCheck ?? true,
    writeCheck: writeCheck ?? false,
  }
}
