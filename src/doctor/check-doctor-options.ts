import { checkConnectOptions } from '../options/check-ingest-options.js'
import type { DoctorOptions } from './doctor-options.js'
import { readUrl } from '../connect/open-target.js'
import { indexNameProblem } from '../options/index-name.js'
import { fail } from '../failure/fail.js'
import * as check from '../options/option-checks.js'

/** What a load does not take. */
const own = { nodes: check.strings, directCheck: check.flag, writeCheck: check.flag, table: check.name }

/** Throws SluiceError OPTION_INVALID, INDEX_NAME_INVALID for an option that is unknown, or of another kind than its type says. */
export function checkDoctorOptions(given: DoctorOptions): void {
  const { nodes, directCheck, writeCheck, table, settings: _, ...options } = given
  const { option = 'options', problem } = check.problemIn({ nodes, directCheck, writeCheck, table }, own) ?? {}
  if (problem !== undefined) throw fail('OPTION_INVALID', { option, problem })
  checkConnectOptions(options)
  const { index, ipCheckUrl } = options
  const nameProblem = index === undefined ? undefined : indexNameProblem(index)
  if (nameProblem !== undefined) {
    throw fail('INDEX_NAME_INVALID', { index: String(index), problem: nameProblem })
  }
  if (ipCheckUrl !== undefined) readUrl('ipCheckUrl', ipCheckUrl)
}
