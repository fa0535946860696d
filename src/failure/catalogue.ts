/**
 * Every failure that Sluice can name, in one place. Hints, `sluice explain`, the doctor, thrown errors, exit codes and
 * docs/failures.md are views of this list. Each part of the path has its own file of entries.
 */
import { clusterEntries } from './entries/cluster-failures.js'
import { egressEntries } from './entries/egress-failures.js'
import { filterEntries } from './entries/filter-failures.js'
import { indexEntries } from './entries/indices-failures.js'
import { inputEntries } from './entries/input-failures.js'
import { optionsEntries } from './entries/options-failures.js'
import { proxyEntries } from './entries/proxy-failures.js'
import { runEntries } from './entries/run-failures.js'
import { servicenowEntries } from './entries/servicenow-failures.js'
import type { Entry, PossibleCause, PossibleFix, Written } from './entry.js'
import type { Evidence } from './evidence.js'

export type { Entry } from './entry.js'

export const catalogue = {
  ...optionsEntries,
  ...inputEntries,
  ...proxyEntries,
  ...egressEntries,
  ...filterEntries,
  ...clusterEntries,
  ...indexEntries,
  ...servicenowEntries,
  ...runEntries,
}

/** The stable name of a failure. */
export type FailureCode = keyof typeof catalogue

/** Returns a failure code's whole entry: title, what is seen, causes in order of likelihood, fixes, exit code. */
export function explain(code: FailureCode): Entry
// A program without types may ask for any text. Only codes have an entry.
export function explain(code: string): Entry | undefined {
  if (!Object.hasOwn(catalogue, code)) return undefined
  const entry: Written = catalogue[code as FailureCode]
  return { ...entry, causes: entry.causes.map(causeIn), fixes: entry.fixes.map(fixIn) }
}

function causeIn(cause: PossibleCause): string {
  return typeof cause === 'string' ? cause : cause.cause
}

function fixIn(fix: PossibleFix): string {
  return typeof fix === 'string' ? fix : fix.fix
}

/** Every code, in the order of the path. */
export const failureCodes = Object.keys(catalogue) as readonly FailureCode[]

/** Returns the causes that a message leaves open, most likely first. */
export function causesFor(code: FailureCode, message: string): readonly string[] {
  const causes: readonly PossibleCause[] = catalogue[code].causes
  const fitting = causes.filter(cause => typeof cause === 'string' || cause.if.test(message))
  return (fitting.length === 0 ? causes : fitting).map(causeIn)
}

/** Returns the fixes that fit a message. The first thing to do (`next`) comes first, if it is one of them. */
export function fixesFor(code: FailureCode, message: string, next?: Evidence[string]): readonly string[] {
  const possible: readonly PossibleFix[] = catalogue[code].fixes
  const fixes = possible.filter(fix => typeof fix === 'string' || fix.if.test(message)).map(fixIn)
  return typeof next === 'string' && fixes.includes(next) ? [next, ...fixes.filter(fix => fix !== next)] : fixes
}
