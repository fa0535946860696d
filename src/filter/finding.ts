import { type FailureCode, explain } from '../failure/catalogue.js'
import type { Evidence, Failure } from '../failure/failure.js'

/** Something about how a deployment is guarded that a person should change (`error`), or know (`warning`). */
export interface FilterFinding {
  readonly code: FailureCode
  readonly severity: 'error' | 'warning'
  readonly message: string
  readonly evidence: Evidence
  /** What to change and where. */
  readonly advice: readonly string[]
}

export function finding({ code, message, evidence }: Failure, severity: FilterFinding['severity']): FilterFinding {
  return { code, severity, message, evidence, advice: explain(code).fixes }
}
