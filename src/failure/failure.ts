import { type FailureCode, catalogue } from './catalogue.js'

/** What was seen when something failed. Never holds a secret or a document. */
export type Evidence = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/**
 * A failure as data: made where the fact is seen, explained by the catalogue.
 * `message` says what happened, to what, with which value; what to do about it is `explain(code)`.
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
  const message = catalogue[code].message.replaceAll(/\{(\w+)\}/g, (_, name: string) => show(seen[name]))
  return { code, message, evidence: seen }
}

function show(value: Evidence[string]): string {
  return typeof value === 'object' ? value.join(', ') : String(value)
}
