/** What a failure's readers are told to look at and to change. */
import { type FailureCode, catalogue, explain, textOf } from './catalogue.js'
import type { Cause } from './entry.js'
import type { Evidence } from './evidence.js'

/** Returns the causes that a message leaves open, most likely first. */
export function causesFor(code: FailureCode, message: string): readonly string[] {
  const causes: readonly Cause[] = catalogue[code].causes
  const fitting = causes.filter(cause => typeof cause === 'string' || cause.if.test(message))
  return (fitting.length === 0 ? causes : fitting).map(textOf)
}

/** Returns the fixes, and before them the one that is due first (`next`), if it is one of them. */
export function fixesFor(code: FailureCode, next: Evidence[string]): readonly string[] {
  const { fixes } = explain(code)
  return typeof next === 'string' && fixes.includes(next) ? [next, ...fixes.filter(fix => fix !== next)] : fixes
}
