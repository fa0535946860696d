import { describeOption } from './describe-option.js'
import { Problem } from './kinds.js'
import { type OptionName, optionNames, type Settings } from './table.js'
import type { RejectionLimit } from '../flow.js'

/** Options whose setting is never undefined. */
type Defaulted = { [K in OptionName]: undefined extends Settings[K] ? never : K }[OptionName]

const ofTable = Object.fromEntries(optionNames.map(name => [name, defaultOf(name)])) as Pick<Settings, Defaulted>
const maxDeleted: RejectionLimit = '10%'

/** Defaults of the table, and those that only the library has. */
export const defaults = { ...ofTable, batchDocs: Infinity, checkHits: 1, maxDeleted, reconcileEveryMs: 0 }

function defaultOf(name: OptionName): unknown {
  const { kind, default: preset } = describeOption(name)
  const read = preset === undefined ? undefined : kind.read(preset)
  if (read instanceof Problem) throw new Error(`the default of ${name} cannot be read: ${read.text}`)
  return read
}
