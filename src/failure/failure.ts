import { type FailureCode, catalogue, explain } from './catalogue.js'
import type { Evidence } from './evidence.js'

export type { Evidence } from './evidence.js'

/**
 * A failure as data. Made where the fact is seen, explained by the catalogue. `message` says what happened, with
 * values. `explain(code)` says what to do.
 */
export interface Failure {
  readonly code: FailureCode
  readonly message: string
  readonly evidence: Evidence
}

type Named<T extends string> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | Named<Rest> : never

/** The evidence that a code's message cannot do without, and any more that was seen. */
export type EvidenceOf<C extends FailureCode> = Evidence &
  Readonly<Record<Named<(typeof catalogue)[C]['message']>, string | number | boolean | readonly string[]>>

/** Makes a failure: the code's message with the evidence filled in. */
export function failure<C extends FailureCode>(code: C, evidence: EvidenceOf<C>): Failure {
  const seen: Evidence = evidence
  return { code, message: say(catalogue[code].message, seen), evidence: seen }
}

/** A code's message as it may be seen. */
export function exampleOf(code: FailureCode): string {
  const { message, example } = explain(code)
  return say(message, example)
}

function say(message: string, seen: Evidence): string {
  return message.replaceAll(/\{(\w+)\}/g, (_, name: string) => show(name, seen[name]))
}

function show(name: string, value: Evidence[string]): string {
  // Numbers are amounts, except for the id of a process.
  if (typeof value === 'number' && name !== 'pid') return value.toLocaleString('en-US')
  return typeof value === 'object' ? value.join(', ') : String(value)
}
