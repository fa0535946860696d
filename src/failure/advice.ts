/** Selects the causes and fixes that readers of a failure see. */
import { type FailureCode, catalogue, explain, textOf } from './catalogue.js'
import type { Cause } from './entry.js'
import type { Evidence } from './evidence.js'

/** Returns the causes that a message leaves open, most likely first. */
export function causesFor(code: FailureCode, message: string): readonly string[] {
  const causes: readonly Cause[] = catalogue[code].causes
  const fitting = causes.filter(cause => typeof cause === 'string' || cause.if.test(message))
  return (fitting.length === 0 ? causes : fitting).map(textOf)
}

/** Returns the fixes. The first thing to do (`next`) comes first, if it is one of them. */
export function fixesFor(code: FailureCode, next: Evidence[string]): readonly string[] {
  const { fixes } = explain(code)
  return typeof next === 'string' && fixes.includes(next) ? [next, ...fixes.filter(fix => fix !== next)] : fixes
}
