/** Checks the options beside `follow`: it has no end, and each round reads from the state what is loaded. */
import type { IngestSource } from '../pipeline/source/open-sources.js'
import { listedIn, namedIn } from './names.js'
import { invalid } from './option-checks.js'
import { formOf, inputForms } from '../base/text/input-form.js'

const rivals = [
  ['dryRun', 'a dry run ends'],
  ['swapAlias', 'an alias is switched when a load is complete'],
  ['again', 'each round would load everything again'],
  ['runId', 'ids of a named run depend on the size of each file'],
  ['spool', 'it is only for stdin'],
  ['tune', 'it would tune the index in every round'],
  ['timeBudgetMs', 'to end the load, send a signal instead'],
  ['byteBudget', 'the load has no end'],
  ['pick', 'only lines can be followed'],
] as const

type Rivals = 'follow' | 'format' | (typeof rivals)[number][0]

type Given = { readonly [K in Rivals]?: unknown }

/** Checks other options, also for the command line. `said`: returns how the user named an option. */
export function checkFollowRivals(given: Given, said = (name: Rivals): string => name): void {
  const { follow, format = 'auto' } = given
  if (follow !== true) return
  for (const [name, why] of rivals)
    if (given[name] !== undefined && given[name] !== false)
      throw invalid(said('follow'), `cannot be combined with ${said(name)}: ${why}`)
  if (format !== 'auto' && format !== 'ndjson')
    throw invalid(said('follow'), `reads only plain NDJSON files, but the format is ${String(format)}`)
}

/** Throws SluiceError OPTION_INVALID. */
export function checkFollow(given: Given & { readonly source: IngestSource; readonly stateDir?: unknown }): void {
  const { source, follow, stateDir } = given
  if (follow !== true) return
  checkFollowRivals(given)
  if (stateDir === undefined) throw invalid('follow', 'needs stateDir, where Sluice keeps what it has loaded')
  const names = [...namedIn(source), ...(listedIn(source) ?? [])]
  if (names.length === 0) throw invalid('follow', 'needs files, because a stream or an iterable cannot be followed')
  const form = names.map(formOf).find(one => one !== undefined)
  if (form !== undefined) throw invalid('follow', inputForms[form].unfollowed)
  if (names.some(name => name === '-' || name === '/dev/stdin'))
    throw invalid('follow', 'cannot follow stdin, which is read until it ends')
}
