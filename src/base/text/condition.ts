/** Reads and writes conditions: what an action line demands of the stored document, in Elasticsearch's own words. */
import type { ConditionFields, ConditionKind } from '../operation.js'
import { readInstant } from './point-in-time.js'

/** As an action line has it. */
export interface Condition {
  readonly kind: ConditionKind
  readonly text: string
}

/** A number in an action line: the text before it, and the field that it comes from. */
export interface ConditionNumber {
  readonly opening: string
  readonly field: string
  readonly mayBeDate: boolean
}

interface ConditionForm {
  readonly numbers: readonly ConditionNumber[]
  /** Behind the last number. */
  readonly closing: string
}

/** Returns how action lines carry the condition of these fields. Undefined: they have none. */
export function conditionForm(fields: ConditionFields): ConditionForm | undefined {
  const { versionField: version, ifSeqNoField: sequence, ifPrimaryTermField: term } = fields
  if (version !== undefined) {
    // A second send of the same version is no conflict.
    return {
      numbers: [{ opening: '"version":', field: version, mayBeDate: true }],
      closing: ',"version_type":"external_gte"',
    }
  }
  if (sequence === undefined || term === undefined) return undefined
  return {
    numbers: [
      { opening: '"if_seq_no":', field: sequence, mayBeDate: false },
      { opening: ',"if_primary_term":', field: term, mayBeDate: false },
    ],
    closing: '',
  }
}

export function conditionKindOf(fields: ConditionFields): ConditionKind | undefined {
  if (fields.versionField !== undefined) return 'version'
  return fields.ifSeqNoField === undefined ? undefined : 'sequence'
}

/** Returns the condition at the end of an action line, as Sluice writes it, with the digits as they stand. */
export function conditionAtEnd(action: string): string | undefined {
  return /[{,]((?:"version":|"if_seq_no":)\d+,"(?:version_type|if_primary_term)":(?:\d+|"external(?:_gte)?"))\}\}\s*$/.exec(
    action,
  )?.[1]
}

/** Returns the kind of a condition. Undefined if the text is none. */
export function kindOfCondition(condition: string): ConditionKind | undefined {
  const [, version, sequence, term] = CONDITION.exec(condition) ?? []
  if ([version, sequence, term].some(digits => digits !== undefined && isBeyond(digits))) return undefined
  if (version !== undefined) return 'version'
  return term === undefined ? undefined : 'sequence'
}

const CONDITION =
  /^(?:"version":(0|[1-9]\d*),"version_type":"external(?:_gte)?"|"if_seq_no":(0|[1-9]\d*),"if_primary_term":([1-9]\d*))$/

/** Elasticsearch's long. */
const MOST = '9223372036854775807'

/** Returns the digits of a number that a document gives, or why it gives none. A date counts in nanoseconds since 1970. */
export function numberIn(text: string, mayBeDate: boolean): string | { readonly problem: string } {
  const digits = /^0*(\d+)$/.exec(text)?.[1]
  if (digits !== undefined) {
    return isBeyond(digits) ? { problem: `is larger than ${MOST}` } : digits
  }
  const instant = mayBeDate ? readInstant(text) : undefined
  if (instant === undefined)
    return { problem: mayBeDate ? 'is neither a whole number from 0 on nor a date' : 'is not a whole number from 0 on' }
  return instant < 0n || instant > BigInt(MOST)
    ? { problem: 'is a date before 1970 or after 2262-04-11' }
    : String(instant)
}

function isBeyond(digits: string): boolean {
  return digits.length > MOST.length || (digits.length === MOST.length && digits > MOST)
}
