import * as check from '../../options/option-checks.js'
import type { Operation } from '../../base/operation.js'
import type { ConnectOptions, ServiceNowOptions } from '../../options/connect-options.js'
import type { Setting } from './facts.js'
import { defaults } from '../../options/describe-option.js'
import type { ConnectSection } from '../../options/load.js'
import { readConnecting } from '../../options/read-options.js'
import { patternIn, wildcardOf } from '../../base/text/index-pattern.js'
import { checkIndexPattern } from '../../options/names.js'
import { fail } from '../../base/failure/failure.js'
import type { Means } from './means.js'

/**
 * The options of a load, and what else to check. With `servicenow` the path to the instance is checked too. With an
 * empty `target`, only that path is checked.
 */
export interface DoctorOptions extends ConnectOptions {
  /** Index, alias or data stream that will be loaded into: its privileges are looked at. Default: none are. */
  readonly index?: string | undefined
  /** Default `create`. */
  readonly op?: Operation | undefined
  /** The platform that tables are read from, through the same proxy. */
  readonly servicenow?: ServiceNowOptions | undefined
  /** The table to read. Default: `incident`, and then a missing permission is no finding. */
  readonly table?: string | undefined
  /** URLs of the proxy's single nodes. Asked one by one, they show which address is refused. */
  readonly nodes?: readonly string[] | undefined
  /** Ask GET / without the proxy and without credentials: whether the cluster answers, and how fast. Default true. */
  readonly directCheck?: boolean | undefined
  /** Write, read and delete one document in `index`. Default false. */
  readonly writeCheck?: boolean | undefined
  /** Every option in force and its source, for the report. */
  readonly settings?: readonly Setting[] | undefined
}

export interface DoctorSection extends Pick<DoctorOptions, 'index' | 'servicenow' | 'table' | 'settings'> {
  readonly connecting: ConnectSection
  readonly op: Operation
  readonly nodes: readonly string[]
  readonly directCheck: boolean
  readonly writeCheck: boolean
}

export function readDoctorOptions(given: DoctorOptions): DoctorSection {
  const { nodes = [], directCheck = true, writeCheck = false, table, settings, ...options } = given
  const own = { nodes: check.strings, directCheck: check.flag, writeCheck: check.flag, table: check.name }
  const { option = 'options', problem } = check.problemIn({ nodes, directCheck, writeCheck, table }, own) ?? {}
  if (problem !== undefined) throw fail('OPTION_INVALID', { option, problem })
  const { index, op = defaults.op, servicenow } = options
  if (index !== undefined) checkIndexPattern(index)
  if (writeCheck && patternIn(index ?? '') !== undefined)
    throw fail('OPTION_INVALID', {
      option: 'writeCheck',
      problem: 'needs the name of one index, but --index has a field in it',
    })
  const connecting = readConnecting(options)
  const pattern = patternIn(index ?? '')
  return {
    connecting,
    index: pattern === undefined ? index : wildcardOf(pattern),
    op,
    servicenow,
    table,
    settings,
    nodes,
    directCheck,
    writeCheck,
  }
}

export interface Tools extends Partial<Pick<Means, 'clock' | 'today'>> {
  /** Multiplies the doctor's own limits of time. Default 1. Tests need more, because a machine may be slow. */
  readonly patience?: number
}
