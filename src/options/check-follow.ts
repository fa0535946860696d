/** Checks the options beside `follow`: it has no end, and each round reads from the state what is loaded. */
import type { IngestSource } from '../pipeline/source/open-sources.js'
import { listedIn, namedIn } from './names.js'
import { invalid } from './option-checks.js'
import { formOf, inputForms } from '../base/text/source-url.js'

interface Given {
  readonly follow?: unknown
  readonly format?: unknown
}

/** Checks the format, also for the command line. `said`: returns how the user named the option. */
export function checkFollowedFormat({ follow, format = 'auto' }: Given, said = 'follow'): void {
  if (follow === true && format !== 'auto' && format !== 'ndjson')
    throw invalid(said, `reads only plain NDJSON files, but the format is ${String(format)}`)
}

/** Throws SluiceError OPTION_INVALID. */
export function checkFollow(given: Given & { readonly source: IngestSource; readonly stateDir?: unknown }): void {
  const { source, follow, stateDir } = given
  if (follow !== true) return
  checkFollowedFormat(given)
  if (stateDir === undefined) throw invalid('follow', 'needs stateDir, where Sluice keeps what it has loaded')
  const names = [...namedIn(source), ...(listedIn(source) ?? [])]
  if (names.length === 0) throw invalid('follow', 'needs files, because a stream or an iterable cannot be followed')
  const form = names.map(formOf).find(one => one !== undefined)
  if (form !== undefined) throw invalid('follow', inputForms[form].unfollowed)
  if (names.some(name => name === '-' || name === '/dev/stdin'))
    throw invalid('follow', 'cannot follow stdin, which is read until it ends')
}
