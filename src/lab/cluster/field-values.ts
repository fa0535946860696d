import { isIP } from 'node:net'
import type { Cause } from './answers.js'
import { dateFormat } from './date-formats.js'
import type { FieldType } from './mapping.js'

/** A value of a document. `text`: the content of a string, or a number or literal as written. */
export interface Value {
  readonly kind: 'string' | 'integer' | 'float' | 'boolean'
  readonly text: string
}

const ranges: Partial<Record<FieldType, { readonly name: string; readonly max: bigint }>> = {
  long: { name: 'long', max: 2n ** 63n - 1n },
  integer: { name: 'int', max: 2n ** 31n - 1n },
  short: { name: 'short', max: 2n ** 15n - 1n },
  byte: { name: 'byte', max: 127n },
}

const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const isoDate =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:T(?:\d{2}(?::?\d{2}(?::?\d{2}(?:[.,]\d{1,9})?)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?)?)?)?$/
const slashDate = /^(\d{4})\/(\d{2})\/(\d{2})(?: \d{2}:\d{2}:\d{2})?$/

/** The type that dynamic mapping gives to a field by its first value. */
export function dynamicType({ kind, text }: Value): FieldType {
  if (kind === 'integer') return 'long'
  if (kind === 'string') return /[-:/]/.test(text) && isDate(text) ? 'date' : 'text'
  return kind
}

/** The format that a field gets by its first value, if that is not the usual one. */
export function dynamicFormat(type: FieldType, { text }: Value): string | undefined {
  return type === 'date' && text.includes('/') ? 'yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis' : undefined
}

/** Returns why a field of this type does not take a value. Undefined if the field takes the value. `format`: of its dates. */
export function objection(type: FieldType, value: Value, format?: unknown): Cause | undefined {
  if (type in ranges) return integerObjection(type, value)
  if (type === 'float' || type === 'double' || type === 'half_float') return floatObjection(type, value)
  if (type === 'boolean') return booleanObjection(value)
  if (type === 'date') return dateObjection(value, format)
  if (type === 'ip' && isIP(value.text) === 0) {
    return { type: 'illegal_argument_exception', reason: `'${value.text}' is not an IP string literal.` }
  }
  return undefined
}

function integerObjection(type: FieldType, { kind, text }: Value): Cause | undefined {
  if (kind === 'boolean') return notNumeric(text)
  if (text.length < 3 && kind === 'integer') return undefined
  if (kind === 'string' && text === '') return undefined
  if (kind === 'string' && !number.test(text)) {
    const exception = type === 'long' ? 'illegal_argument_exception' : 'number_format_exception'
    return { type: exception, reason: `For input string: "${text}"` }
  }
  const { name, max } = ranges[type] ?? { name: 'long', max: 0n }
  const isInside =
    kind === 'integer' || /^-?\d+$/.test(text)
      ? text.length < 4 || isWithin(BigInt(text), max)
      : Math.abs(Number(text)) < Number(max) + 1
  if (isInside) return undefined
  const reason = `Numeric value (${text}) out of range of ${name} (${-max - 1n} - ${max})`
  return { type: 'x_content_parse_exception', reason, causedBy: { type: 'input_coercion_exception', reason } }
}

function isWithin(value: bigint, max: bigint): boolean {
  return value <= max && value >= -max - 1n
}

function floatObjection(type: FieldType, { kind, text }: Value): Cause | undefined {
  if (kind === 'boolean') return notNumeric(text)
  if (kind === 'string' && text === '') return undefined
  if (kind === 'string' && !number.test(text.trim())) {
    return { type: 'number_format_exception', reason: `For input string: "${text}"` }
  }
  const value = type === 'double' ? Number(text) : Math.fround(Number(text))
  if (Number.isFinite(value)) return undefined
  const infinity = value > 0 ? 'Infinity' : '-Infinity'
  return { type: 'illegal_argument_exception', reason: `[${type}] supports only finite values, but got [${infinity}]` }
}

function notNumeric(text: string): Cause {
  const reason = `Current token (VALUE_${text.toUpperCase()}) not numeric, can not use numeric value accessors`
  return { type: 'x_content_parse_exception', reason, causedBy: { type: 'json_parse_exception', reason } }
}

function booleanObjection({ kind, text }: Value): Cause | undefined {
  if (kind === 'boolean') return undefined
  if (kind === 'string') {
    if (text === 'true' || text === 'false' || text === '') return undefined
    const reason = `Failed to parse value [${text}] as only [true] or [false] are allowed.`
    return { type: 'illegal_argument_exception', reason }
  }
  const reason = `Current token (VALUE_NUMBER_${kind === 'integer' ? 'INT' : 'FLOAT'}) not of boolean type`
  return { type: 'x_content_parse_exception', reason, causedBy: { type: 'json_parse_exception', reason } }
}

const usualFormat = 'strict_date_optional_time||epoch_millis'

function dateObjection(value: Value, format: unknown = usualFormat): Cause | undefined {
  return format === usualFormat ? usualDateObjection(value) : formattedDateObjection(value, String(format))
}

function formattedDateObjection({ text }: Value, format: string): Cause | undefined {
  if (text === '') return { type: 'illegal_argument_exception', reason: 'cannot parse empty datetime' }
  const found = dateFormat(format)?.read(text)
  if (typeof found !== 'string') return undefined
  const reason = `failed to parse date field [${text}] with format [${format}]`
  return { type: 'illegal_argument_exception', reason, causedBy: { type: 'date_time_parse_exception', reason: found } }
}

function usualDateObjection({ kind, text }: Value): Cause | undefined {
  if (kind === 'integer' || kind === 'float' || isDay(isoDate.exec(text)) || /^-?\d+$/.test(text)) return undefined
  if (text === '') return { type: 'illegal_argument_exception', reason: 'cannot parse empty datetime' }
  return {
    type: 'illegal_argument_exception',
    reason: `failed to parse date field [${text}] with format [${usualFormat}]`,
    causedBy: { type: 'date_time_parse_exception', reason: 'Failed to parse with all enclosed parsers' },
  }
}

function isDate(text: string): boolean {
  return isDay(isoDate.exec(text) ?? slashDate.exec(text))
}

function isDay(found: RegExpExecArray | null): boolean {
  if (found === null) return false
  const [, year, month = '01', day = '01'] = found
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day)
}

const scalars = new Set<FieldType>([
  'long',
  'integer',
  'short',
  'byte',
  'float',
  'double',
  'half_float',
  'boolean',
  'date',
  'text',
  'keyword',
  'ip',
])

/** Whether a type takes single values and no object. */
export function isScalar(type: FieldType): boolean {
  return scalars.has(type)
}

/** Returns why a scalar field does not take an object that starts at this column. */
export function objectObjection(type: FieldType, column: number): Cause {
  if (type === 'boolean') {
    const reason = 'Current token (START_OBJECT) not of boolean type'
    return { type: 'x_content_parse_exception', reason, causedBy: { type: 'json_parse_exception', reason } }
  }
  const wantsText = type === 'text' || type === 'keyword' || type === 'date' || type === 'ip'
  const reason = wantsText ? `Expected text at 1:${column} but found START_OBJECT` : 'Cannot parse object as number'
  return { type: 'illegal_argument_exception', reason }
}
