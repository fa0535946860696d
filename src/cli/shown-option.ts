import type { OptionName } from '../options/table.js'
import { hidden, withoutCredentials } from '../options/secrets.js'
import { viewOption } from '../options/view.js'

/** The value of an option as it may be shown: secrets hidden, and the credentials inside a URL. */
export function shownOption(name: OptionName, value: unknown): unknown {
  if (value === undefined) return undefined
  const { secret } = viewOption(name)
  if (secret === 'value') return hidden
  return secret === 'url' && typeof value === 'string' ? withoutCredentials(value) : value
}
