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
import { queueEntries } from './entries/queue-failures.js'
import { runEntries } from './entries/run-failures.js'
import { servicenowEntries } from './entries/servicenow-failures.js'
import { sourceEntries } from './entries/source-failures.js'
import type { Entries, Entry, Evidence, Fitting, PossibleCause, PossibleFix, Stage } from './entry.js'

export type { Entry } from './entry.js'

export const catalogue = {
  ...at('options', optionsEntries),
  ...at('input', inputEntries),
  ...at('input', sourceEntries),
  ...at('proxy', proxyEntries),
  ...at('egress', egressEntries),
  ...at('egress', filterEntries),
  ...at('cluster', clusterEntries),
  ...at('index', indexEntries),
  ...at('servicenow', servicenowEntries),
  ...at('queue', queueEntries),
  ...at('run', runEntries),
}

/** Adds to entries what they share, unless they differ from it. */
function at<E extends Entries>(stage: Stage, entries: E) {
  const whole = Object.entries(entries).map(([code, entry]) => [code, { stage, exit: 3, retry: 'no', ...entry }])
  return Object.fromEntries(whole) as { readonly [Code in keyof E]: E[Code] & Pick<Entry, 'stage' | 'exit' | 'retry'> }
}

/** The stable name of a failure. */
export type FailureCode = keyof typeof catalogue

/** Returns a failure code's whole entry: title, what is seen, causes in order of likelihood, fixes, exit code. */
export function explain(code: FailureCode): Entry
// A program without types may ask for any text. Only codes have an entry.
export function explain(code: string): Entry | undefined {
  if (!Object.hasOwn(catalogue, code)) return undefined
  const entry = catalogue[code as FailureCode]
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

function fits(advice: string | Fitting, message: string): boolean {
  if (typeof advice === 'string') return true
  return advice.if?.test(message) !== false && advice.unless?.test(message) !== true
}

/** Returns the causes that a message leaves open, most likely first. */
export function causesFor(code: FailureCode, message: string): readonly string[] {
  const causes: readonly PossibleCause[] = catalogue[code].causes
  return causes.filter(cause => fits(cause, message)).map(causeIn)
}

/** Returns the fixes that fit a message, or all if none does. The first thing to do (`next`) comes first, if it is one of them. */
export function fixesFor(code: FailureCode, message: string, next?: Evidence[string]): readonly string[] {
  const possible: readonly PossibleFix[] = catalogue[code].fixes
  const fitting = possible.filter(fix => fits(fix, message))
  const fixes = (fitting.length === 0 ? possible : fitting).map(fixIn)
  return typeof next === 'string' && fixes.includes(next) ? [next, ...fixes.filter(fix => fix !== next)] : fixes
}
