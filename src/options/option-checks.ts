/** Checks values at run time. A check returns the problem, never the value, which may be a secret. */
import { isIPv4 } from 'node:net'
import { nearest, unicodeProblem } from '../base/text/shown.js'
import { isQuoted } from '../base/secrets.js'
import { fail, SluiceError } from '../base/failure/failure.js'

/** Returns the problem of an option's value, or undefined. Never called with undefined, which means the default. */
export type Check = (value: unknown) => string | undefined

export const string: Check = value =>
  typeof value === 'string' ? unicodeProblem(value) : `is ${kindOf(value)}, not a string`

export const name: Check = value => string(value) ?? (value === '' ? 'is empty' : undefined)

/** Accepts what fits into a header. */
export const secret: Check = value => {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  const isBroken = typeof value === 'string' && /[\u0000-\u001f\u007f]/.test(value)
  return string(value) ?? (isBroken ? 'contains a line break or another control character' : undefined)
}

/** Accepts what Sluice can send unchanged. */
export const token: Check = value => {
  const isBroken = typeof value === 'string' && !/^[\u0020-\u007e]+$/.test(value)
  if (typeof value === 'string' && isQuoted(value)) return 'has quotes around it. Remove the quotes'
  return name(value) ?? secret(value) ?? (isBroken ? 'contains a character that no API key has' : undefined)
}

export const url: Check = value =>
  isUrl(value) ? undefined : typeof value === 'string' ? string(value) : mustBe('a URL', value)

export const pem: Check = value =>
  typeof value === 'string' || value instanceof Uint8Array ? undefined : mustBe('a PEM string or Buffer', value)

/** Checks a run id, which becomes part of a file name. */
export const runId: Check = value => {
  const fits = typeof value === 'string' && /^[\w][\w.-]{0,99}$/.test(value)
  return string(value) ?? (fits ? undefined : 'is not 1 to 100 letters, digits, dots, hyphens and underscores')
}

export const flag: Check = value => (typeof value === 'boolean' ? undefined : mustBe('true or false', value))

export const listener: Check = value => (typeof value === 'function' ? undefined : mustBe('a function', value))

export const transform: Check = value => (typeof value === 'function' ? undefined : name(value))

export const signal: Check = value => (tagOf(value) === 'AbortSignal' ? undefined : mustBe('an AbortSignal', value))

export const stream: Check = value =>
  typeof value === 'object' && value !== null && 'pipe' in value && Symbol.asyncIterator in value
    ? undefined
    : mustBe('a readable stream', value)

export const addresses: Check = value =>
  Array.isArray(value) && value.every(one => typeof one === 'string' && isIPv4(one))
    ? undefined
    : 'is not an array of IPv4 addresses'

export const strings: Check = value =>
  Array.isArray(value) && value.every(one => string(one) === undefined) ? undefined : 'is not an array of strings'

export const limit: Check = value => {
  const isCount = Number.isSafeInteger(value) && Number(value) >= 0
  const isShare = typeof value === 'string' && /^\d+(\.\d+)?%$/.test(value) && Number.parseFloat(value) <= 100
  return isCount || isShare ? undefined : "is neither a whole number of at least 0 nor a share from '0%' to '100%'"
}

/** `waitMs` is limited by Node's timers. */
export const onBlock: Check = value => {
  if (!isPlainObject(value)) return oneOf('stop', 'wait')(value)
  const found = problemIn(value, { waitMs: whole(1, 2 ** 31 - 1) })
  if (found !== undefined) return [found.option, found.problem].filter(Boolean).join(' ')
  return 'waitMs' in value ? undefined : 'has no waitMs'
}

export const file: Check = value => {
  if (value === '-') return "is '-', which is not a file. To write a file of that name, pass './-'"
  return value === false ? undefined : value === true ? mustBe('a path or false', value) : name(value)
}

export const jsonObject: Check = value => (isPlainObject(value) ? undefined : mustBe('a plain object', value))

/** What a mapping may be instead of itself. */
const mappingWords = ['infer', 'copy', 'copy,aliases'] as const

export type MappingWord = (typeof mappingWords)[number]

export function isMappingWord(value: unknown): value is MappingWord {
  return mappingWords.some(word => word === value)
}

/** Returns whether the mapping is that of another cluster. */
export function copiesMapping(value: unknown): boolean {
  return value === 'copy' || value === 'copy,aliases'
}

/** Accepts a mapping, or the word that asks for one. */
export const mapping: Check = value => (isMappingWord(value) ? undefined : jsonObject(value))

export const anything: Check = () => undefined

export function oneOf(...choices: readonly string[]): Check {
  const known = choices.map(choice => `'${choice}'`).join(', ')
  return value => (choices.some(choice => choice === value) ? undefined : `is not one of ${known}`)
}

export function whole(least: number, most: number): Check {
  return value => {
    if (Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most) return undefined
    return `${typeof value === 'number' ? value : kindOf(value)} is not a whole number from ${least} to ${most}`
  }
}

/**
 * Throws SluiceError OPTION_INVALID for the first problem. `whole`: the name of the section, or `options` for the top
 * level.
 */
export function all(whole: string, options: unknown, checks: Readonly<Record<string, Check>>): void {
  const found = problemIn(options, checks)
  if (found === undefined) return
  const path = whole === 'options' ? '' : `${whole}.`
  throw invalid(found.option === undefined ? whole : `${path}${found.option}`, found.problem)
}

export function problemIn(
  options: unknown,
  checks: Readonly<Record<string, Check>>,
): { readonly option?: string; readonly problem: string } | undefined {
  if (options === undefined) return { problem: 'is not set. Pass an object of options' }
  if (!isPlainObject(options)) return { problem: mustBe('a plain object of options', options) }
  for (const [option, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, option) ? checks[option] : undefined
    if (check === undefined) return unknownOption(option, Object.keys(checks))
    const problem = value === undefined ? undefined : check(value)
    if (problem !== undefined) return { option, problem }
  }
  return undefined
}

export function isUrl(value: unknown): value is URL {
  return tagOf(value) === 'URL'
}

function unknownOption(option: string, known: readonly string[]): { option?: string; problem: string } {
  // A key that is no identifier may be a URL with its password.
  if (!/^[a-z_]\w{0,39}$/i.test(option)) return { problem: 'contains an unknown option' }
  const near = nearest(option, known)
  return { option, problem: `is not an option${near === undefined ? '' : `. Did you mean ${near}?`}` }
}

function mustBe(what: string, value: unknown): string {
  return `is ${kindOf(value)}, not ${what}`
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value !== 'object') return `a ${typeof value}`
  if (isPlainObject(value)) return 'a plain object'
  return tagOf(value) === 'Object' ? 'an object of a class' : `an object of the kind ${tagOf(value)}`
}

/** Accepts plain objects of this realm or another. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (typeof prototype !== 'object' || prototype === null) return prototype === null
  return Object.getPrototypeOf(prototype) === null && tagOf(value) === 'Object'
}

/** Returns the class of an object. Works for objects of another realm, where `instanceof` fails. */
function tagOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? Object.prototype.toString.call(value).slice(8, -1) : ''
}

/** Makes the error for an option. `option`: as the user wrote it. `problem` holds no secret. */
export function invalid(option: string, problem: string): SluiceError {
  return fail('OPTION_INVALID', { option, problem })
}
