import type { Evidence } from '../failure/failure.js'
import type { FailureCode } from '../failure/catalogue.js'

/** Something that will stop a load, or that makes it less safe than it looks. */
export interface Finding {
  readonly code: FailureCode
  readonly severity: 'error' | 'warning'
  readonly message: string
  readonly evidence: Evidence
  /** What to change and where. */
  readonly advice: readonly string[]
}

/** One thing that was tried. */
export interface Step {
  readonly name: string
  readonly ok: boolean
  /** Absent where the step was left out, `detail` says why. */
  readonly ms?: number
  readonly detail: string
}

/** What was seen on the way. */
export interface Facts {
  readonly cluster: { readonly url: string; readonly name?: string; readonly version?: string }
  /** Without credentials; absent when connected directly. */
  readonly proxy?: string
  readonly staticIps?: readonly string[]
  /** Source addresses that the egress check saw, and how often. */
  readonly egress: Readonly<Record<string, number>>
  /** Connections that the IP filter judged, and how many it let through. */
  readonly probes?: number
  readonly allowed?: number
  /** Chance that one of two addresses is refused all the same. */
  readonly missChance?: number
}

export interface DoctorReport {
  /** No finding is an error. */
  readonly ok: boolean
  readonly findings: readonly Finding[]
  readonly facts: Facts
  readonly steps: readonly Step[]
}
