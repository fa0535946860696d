import { explain } from '../failure/catalogue.js'
import type { Failure } from '../failure/failure.js'
import type { Facts } from './facts.js'
import type { Finding, Severity } from './report.js'

/** What a set of facts tells of one part of the way. */
export type Rule = (facts: Facts) => readonly Finding[]

/** A failure as a finding. `more` is added to its message: what the other facts tell of it. */
export function finding(severity: Severity, { code, message, evidence }: Failure, more = ''): Finding {
  // What somebody else said may be a whole sentence.
  const told = more === '' ? message : `${message.replace(/\.$/, '')}; ${more}`
  return { code, severity, message: told, evidence, advice: explain(code).fixes }
}
