/** Checks values from the queue by their shape: anyone who can write to the queue may have written them. */
import { isObject, type JsonObject } from '../../../base/json/parse-json.js'

export type Test = (value: unknown) => boolean
/** Fields of an entry. A test of one that may be absent accepts undefined. */
export type EntryShape = Readonly<Record<string, Test>>

export const isText: Test = value => typeof value === 'string'
export const isNumber: Test = value => typeof value === 'number' && Number.isFinite(value)
export const isCount: Test = value => Number.isSafeInteger(value) && Number(value) >= 0
export const isSize: Test = value => isCount(value) && Number(value) > 0

export function optional(test: Test): Test {
  return value => value === undefined || test(value)
}

export function shaped(shape: EntryShape): Test {
  return value => isObject(value) && Object.entries(shape).every(([name, test]) => test(own(value, name)))
}

export function isListOf(value: unknown, test: Test): value is readonly unknown[] {
  return Array.isArray(value) && value.every(test)
}

/** Returns a field that the entry itself has. */
export function own(value: JsonObject, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined
}
