import { Problem } from './kinds.js'
import type { OptionRow } from './option.js'
import { type OptionName, type Settings, table } from './table.js'

/** The default of an option of the table. */
export function defaultOf<N extends OptionName>(name: N): NonNullable<Settings[N]> {
  const { kind, default: preset }: OptionRow<unknown> = table[name]
  const read = kind.read(preset)
  if (read instanceof Problem) throw new Error(`the default of ${name} cannot be read: ${read.text}`)
  return read as NonNullable<Settings[N]>
}

/** Defaults of the library, with those that the table does not have. */
export const defaults = {
  concurrency: defaultOf('concurrency'),
  preflightConnections: defaultOf('preflightConnections'),
  timeoutMs: defaultOf('timeoutMs'),
  maxElapsedMs: defaultOf('maxElapsedMs'),
  op: defaultOf('op'),
  ids: defaultOf('ids'),
  format: defaultOf('format'),
  onConflict: defaultOf('onConflict'),
  batchBytes: defaultOf('batchBytes'),
  batchMs: defaultOf('batchMs'),
  compress: defaultOf('compress'),
  graceMs: defaultOf('graceMs'),
  displayValue: defaultOf('displayValue'),
  pageSize: defaultOf('pageSize'),
  /** For `onBlock: 'wait'`. */
  blockWaitMs: 1_800_000,
  checkHits: 1,
  maxDeleted: '10%',
} as const
