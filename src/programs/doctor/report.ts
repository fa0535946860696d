import { type Evidence, type Failure, type FailureCode, fixesFor } from '../../base/failure/failure.js'
import type { Facts, Step } from '../../route/examine/facts.js'

/**
 * `error`: a load stops on it, or the cluster answers this machine past the proxy. `warning`: a load works and is less safe than it
 * looks. `info`: worth knowing, nothing to mend.
 */
export type Severity = 'error' | 'warning' | 'info'

export interface Finding {
  readonly code: FailureCode
  readonly severity: Severity
  readonly message: string
  readonly evidence: Evidence
  readonly advice: readonly string[]
}

export interface PolicyNeeded {
  /** Both static addresses as /32. */
  readonly rules: readonly string[]
  /** The source of the addresses: the dashboard's pair, or only the address check. */
  readonly from: 'STATIC_IPS' | 'address check'
}

export interface DoctorReport {
  /** No finding is an error. */
  readonly ok: boolean
  readonly findings: readonly Finding[]
  /** The first thing to do. Absent if there is nothing to do. */
  readonly next?: string | undefined
  /** Absent without a proxy, or if its addresses are unknown. */
  readonly policy?: PolicyNeeded | undefined
  readonly facts: Facts
  readonly steps: readonly Step[]
  /** Requests and greetings that were sent, and what these options could take at the most. */
  readonly requests: { readonly sent: number; readonly atMost: number }
}

export type FindingRule = (facts: Facts) => Finding | undefined | readonly (Finding | undefined)[]

/** Makes a finding of a failure. `more`: what the other facts show, as a sentence without its full stop. */
export function finding(severity: Severity, { code, message, evidence }: Failure, more = ''): Finding {
  // A quoted message may be a whole sentence.
  const told = more === '' ? message : `${message.replace(/\.$/, '')}. ${more}.`
  return { code, severity, message: told, evidence, advice: fixesFor(code, told) }
}
