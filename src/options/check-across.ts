/** Checks what the rows of the table say about other options. All throw SluiceError OPTION_INVALID. */
import { describeOption, type OptionName, optionNames } from './describe-option.js'
import { invalid } from './option-checks.js'

type Given = { readonly [K in OptionName]?: unknown }

/** Checks for a program whether options are there that others need. */
export function checkNeeds(given: Given): void {
  for (const { name, needs = {} } of setIn(given))
    for (const [other, why] of Object.entries(needs))
      if (!isSet(given[other as OptionName])) throw invalid(name, `needs ${other}, ${why}`)
}

/** Checks for a command whether one of the options is there that others need. `said`: returns how the user named an option. */
export function checkCompanions(given: Given, said: (name: OptionName) => string): void {
  for (const { name, alsoNeeds } of optionNames.map(describeOption)) {
    if (given[name] === undefined || alsoNeeds?.some(other => given[other] !== undefined) !== false) continue
    throw invalid(said(name), `also needs ${alsoNeeds.map(said).join(' or ')}`)
  }
}

/** Checks which options cannot be combined. `said`: returns how the user named an option. */
export function checkExcludes(given: Given, said = (name: OptionName): string => name): void {
  for (const { name, excludes = {} } of setIn(given))
    for (const [other, why] of Object.entries(excludes) as [OptionName, string][])
      if (isSet(given[other])) throw invalid(said(name), `cannot be combined with ${said(other)}: ${why}`)
}

function setIn(given: Given) {
  return optionNames.filter(name => isSet(given[name])).map(describeOption)
}

/** A switch that is off is not set. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== false
}
