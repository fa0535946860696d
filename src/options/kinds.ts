/**
 * The kinds of values an option can have. Each reads what a person writes in a flag or variable (text) or in the file
 * (text, number, boolean), and checks what a program passes. A problem follows the value in a sentence: "'5x' is not a size: …".
 */
import { nearest, fieldsIn } from '../base/text/shown.js'
import { isIPv4 } from 'node:net'
import type { RejectionLimit } from '../base/flow.js'
import { listenAddressIn, isWebAddress } from '../base/addresses.js'
import { incidentFieldProblem, jobProblem, readIncidentFields } from './names.js'
import * as check from './option-checks.js'
import { isQuoted } from '../base/secrets.js'

export interface Kind<T> {
  /** How help shows the value, if every option of this kind shows it alike. */
  readonly label?: string | undefined
  /** In the form that a person would write. */
  readonly default?: string
  /** For the JSON Schema of the configuration file. Absent: text or a number. */
  readonly shape?: 'switch' | 'choice' | 'number'
  readonly choices?: readonly string[]
  readonly range?: Range
  /** Whether its flag may stand several times. Then it reads the list of their texts. */
  readonly isRepeated?: true
  readonly read: (raw: unknown) => T | Problem
  readonly check: check.Check
  /** Takes a value apart that also holds those of other options, under their names. Undefined: the value is only its own. */
  readonly apart?: (value: unknown) => Readonly<Record<string, unknown>> | undefined
  /** Whether a text that looks like several values is one, if a program passes another of them by itself. */
  readonly mayBeWhole?: true
}

export class Problem {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export function kind<T>(label: string | undefined, isFit: check.Check, read: (text: string) => T | Problem): Kind<T> {
  return {
    label,
    check: isFit,
    read: raw => {
      const isScalar = typeof raw === 'string' || typeof raw === 'number' || typeof raw === 'boolean'
      if (!isScalar) return new Problem('is not a single value')
      const value = String(raw).trim()
      return isQuoted(value) ? new Problem('has quotes around it. Remove the quotes') : read(value)
    },
  }
}

export function text(isFit: check.Check = check.name) {
  return kind(undefined, isFit, value => (value === '' ? new Problem('is empty') : value))
}

/** A list of fields, as the library takes it too. */
export function fieldList() {
  const isFit = (value: unknown) => check.name(value) ?? (fieldsIn(String(value)).includes('') ? noName : undefined)
  return kind('field,…', isFit, fitting(isFit))
}

/** Reads patterns with `*`, separated by commas. */
export function patterns(): Kind<readonly string[]> {
  const isFit = (value: unknown) =>
    check.name(value) ?? (String(value).split(',').includes('') ? 'has an empty pattern' : undefined)
  return kind(
    'pattern,…',
    value => (Array.isArray(value) ? isFit(value.join(',')) : isFit(value)),
    raw => {
      const problem = isFit(raw)
      return problem === undefined ? raw.split(',') : new Problem(problem)
    },
  )
}

const noName = 'has a field without a name'

/** Sluice puts a backslash before a separator inside a value. A quote would need one too. */
export function separator() {
  const isFit = (value: unknown) =>
    check.string(value) ??
    (/^[!#-[\]-~]$/.test(String(value)) ? undefined : 'is not one visible ASCII character other than \\ and "')
  return kind('char', isFit, fitting(isFit))
}

/** Reads the path of an output file. Stdout is only for the result. */
export function writtenFile(stdout = 'and stdout is for the receipt') {
  return kind('file', check.file, value => {
    if (value === '-') return new Problem(`is not a file, ${stdout}. Pass a file (./- for a file of that name)`)
    return value === '' ? new Problem('is empty') : value
  })
}

/** A file of metrics. The collector reads only files of this name. */
export function metricsFile() {
  const isFit = (value: unknown) =>
    String(value).endsWith('.prom') ? undefined : 'does not end in .prom, and node_exporter reads no other files'
  return kind('file', isFit, fitting(isFit))
}

export function listenAddress() {
  const isFit = (value: unknown) =>
    listenAddressIn(String(value)) === undefined ? 'is not a port, as in 9464, or 0.0.0.0:9464' : undefined
  return kind('port', isFit, fitting(isFit))
}

export function webAddress(isFit: check.Check = check.string) {
  return kind('url', isFit, value => {
    return isWebAddress(value) ? value : new Problem('is not an http:// or https:// URL')
  })
}

export function runName() {
  return kind('name', check.runId, fitting(check.runId))
}

export function job() {
  return kind('name', check.name, fitting(jobProblem))
}

function fitting(problemOf: (value: string) => string | undefined) {
  return (value: string) => {
    const problem = problemOf(value)
    return problem === undefined ? value : new Problem(problem)
  }
}

export function incidentFields() {
  return kind('name=value^…', check.jsonObject, (value): Readonly<Record<string, string>> | Problem => {
    const fields = readIncidentFields(value)
    if (fields === undefined) return new Problem('is not a list of fields, as in assignment_group=ID^urgency=1')
    const problem = Object.keys(fields)
      .map(incidentFieldProblem)
      .find(one => one !== undefined)
    return problem === undefined ? fields : new Problem(problem)
  })
}

/** Reads text unchanged, with its blanks. */
export function secretText(isFit: check.Check = check.secret): Kind<string> {
  return {
    check: isFit,
    read: raw => (typeof raw !== 'string' ? new Problem('is not text') : raw === '' ? new Problem('is empty') : raw),
  }
}

/** Makes a switch, which is off by default. */
export function toggle() {
  const onOrOff = kind(undefined, check.flag, value => {
    if (/^(1|true|yes|on)$/i.test(value)) return true
    if (/^(0|false|no|off)$/i.test(value)) return false
    return new Problem('is neither true nor false')
  })
  return { ...onOrOff, default: 'false', shape: 'switch' as const }
}

export function choice<const C extends string>(...choices: readonly [C, ...C[]]) {
  const oneOf = kind(choices.join('|'), check.oneOf(...choices), (value): C | Problem => {
    const chosen = choices.find(one => one === value.toLowerCase())
    return chosen ?? new Problem(`is not one of ${choices.join(', ')}`)
  })
  return { ...oneOf, shape: 'choice' as const, choices }
}

/** Reads what follows a run: a word of ours, or a command of the user's. */
export function wordOrCommand<const C extends string>(...words: readonly [C, ...C[]]) {
  return kind([...words.slice(1), 'command'].join('|'), check.string, value => {
    const word = words.find(one => one === value.toLowerCase())
    const near = word === undefined && /^\w+$/.test(value) ? nearest(value, words) : undefined
    if (near !== undefined) return new Problem(`looks like ${near}. To run a command of this name, pass its path`)
    return value.trim() === '' ? new Problem('is empty') : (word ?? value)
  })
}

/** `typed`: the range for a program, if different. */
export function wholeNumber({ min, max }: Range, typed: Partial<Range> = {}) {
  const count = kind('count', check.whole(typed.min ?? min, typed.max ?? max), value => {
    const number = digits(value)
    if (number === undefined) return new Problem('is not a whole number')
    return number >= min && number <= max ? number : new Problem(`is not between ${min} and ${max}`)
  })
  return { ...count, shape: 'number' as const, range: { min, max } }
}

const sizeUnits: Record<string, number> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
}

export function size({ min, max }: Range, typed: Partial<Range> = {}) {
  return kind('size', check.whole(typed.min ?? min, typed.max ?? max), value => {
    const bytes = measured(value, sizeUnits)
    if (bytes === undefined)
      return new Problem(
        'is not a size. Write a number of bytes, or a number and a unit, as in 5mb, 512kb or 5_000_000',
      )
    return bytes >= min && bytes <= max ? bytes : new Problem(`is not between ${inUnits(min)} and ${inUnits(max)}`)
  })
}

/** Timers of Node hold 31 bits: a longer wait would end at once. */
const LONGEST_MS = 2 ** 31 - 1

const timeUnits: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds. `bare` says whether a number without a unit counts as milliseconds. */
export function duration({ bare }: { bare: boolean }, typed: Partial<Range> = {}) {
  const units = bare ? { ...timeUnits, '': 1 } : timeUnits
  return kind('duration', check.whole(typed.min ?? 1, typed.max ?? LONGEST_MS), value => {
    const ms = measured(value, units)
    if (ms === undefined)
      return new Problem('is not a duration. Write a number and a unit, as in 500ms, 30s, 15m or 2h')
    return ms >= 1 && ms <= LONGEST_MS ? ms : new Problem('is not between 1ms and 24d')
  })
}

export function rejectionLimit() {
  return kind('limit', check.limit, (value): RejectionLimit | Problem => {
    const percent = /^(\d+(?:\.\d+)?)%$/.exec(value)?.[1]
    if (percent !== undefined && Number(percent) <= 100) return `${Number(percent)}%`
    return digits(value) ?? new Problem('is neither a count such as 100 nor a share such as 1%')
  })
}

/** Reads what to do if access is lost during a run: stop, or wait. Default of the wait: 30 minutes. */
export function blockPolicy() {
  return kind('stop|wait[=duration]', check.onBlock, (value): 'stop' | { readonly waitMs: number } | Problem => {
    if (/^stop$/i.test(value)) return 'stop'
    const [isWait, time = '30m'] = /^wait(?:=(.*))?$/i.exec(value) ?? []
    if (isWait === undefined) return new Problem('is not stop, wait, or wait with a duration, as in wait=30m')
    const waitMs = measured(time, timeUnits)
    if (waitMs === undefined) return new Problem('has no duration after "wait=". Write wait=90s, wait=30m or wait=2h')
    return waitMs >= 1 && waitMs <= LONGEST_MS ? { waitMs } : new Problem('is not between wait=1ms and wait=24d')
  })
}

export function addressPair() {
  return kind('a,b', check.addresses, (value): readonly [string, string] | Problem => {
    const [first, second, ...more] = value.split(',').map(one => one.trim())
    if (first === undefined || second === undefined || more.length > 0) {
      return new Problem('is not a pair of IPv4 addresses with a comma between them')
    }
    const wrong = [first, second].find(one => !isIPv4(one))
    if (wrong !== undefined) return new Problem(`contains '${wrong}', which is not an IPv4 address`)
    return first === second ? new Problem('contains the same address twice') : [first, second]
  })
}

/** SHA-256 of a certificate: 64 hexadecimal digits, with or without colons. */
export function fingerprint() {
  return kind('sha256', check.name, value => {
    const hex = value.replaceAll(':', '').toUpperCase()
    if (!/^[0-9A-F]{64}$/.test(hex)) return new Problem('is not a SHA-256 fingerprint (64 hexadecimal digits)')
    return (hex.match(/../g) ?? []).join(':')
  })
}

interface Range {
  readonly min: number
  readonly max: number
}

function digits(value: string): number | undefined {
  if (!/^\d+(_\d+)*$/.test(value)) return undefined
  const number = Number(value.replaceAll('_', ''))
  return Number.isSafeInteger(number) ? number : undefined
}

function measured(value: string, units: Record<string, number>): number | undefined {
  const [, amount, unit] = /^(\d+(?:_\d+)*(?:\.\d+)?)\s*([a-z]*)$/i.exec(value) ?? []
  const factor = unit === undefined || !Object.hasOwn(units, unit.toLowerCase()) ? undefined : units[unit.toLowerCase()]
  if (amount === undefined || factor === undefined) return undefined
  return Math.round(Number(amount.replaceAll('_', '')) * factor)
}

function inUnits(bytes: number): string {
  if (bytes >= 1e12) return `${bytes / 1e12}tb`
  return bytes >= 1e6 ? `${bytes / 1e6}mb` : `${bytes / 1e3}kb`
}
