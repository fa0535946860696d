/** Reads dates by a pattern of Java, such as `dd.MM.yyyy HH:mm`. */

/** What a text says of a time. Absent: it does not say so. */
interface Parts {
  year?: number
  month?: number
  day?: number
  hour?: number
  hour12?: number
  isPm?: boolean
  minute?: number
  second?: number
  nano?: number
  weekday?: number
  /** Minutes east of Greenwich. */
  offset?: number
}

type Name = Exclude<keyof Parts, 'isPm'>

/** Returns where the rest of the text begins, or undefined if the text is something else there. */
type Take = (text: string, at: number, parts: Parts) => number | undefined

interface Element {
  readonly take: Take
  /** Digits that a number of another length leaves for it, if it has a fixed number of them. */
  readonly digits?: number
}

/** Reads a text: milliseconds since 1970, or why it is no date. `round`: to which end of a coarse time. */
type Reading = (text: string, round?: 'down' | 'up') => number | string

/** Returns what reads a pattern, or the letter that the lab does not know. */
export function readPattern(pattern: string): Reading | string {
  const elements = elementsOf(pattern)
  if (typeof elements === 'string') return elements
  return (text, round = 'down') => {
    const parts: Parts = {}
    let at = 0
    for (const { take } of elements) {
      const next = take(text, at, parts)
      if (next === undefined) return `Text '${text}' could not be parsed at index ${at}`
      at = next
    }
    if (at < text.length) return `Text '${text}' could not be parsed, unparsed text found at index ${at}`
    const millis = millisOf(parts, round)
    return millis ?? `Text '${text}' could not be parsed`
  }
}

const PIECES = /'((?:[^']|'')*)'|([a-zA-Z])\2*|([^a-zA-Z'[\]{}#])/gy

function elementsOf(pattern: string): readonly Element[] | string {
  const pieces: { readonly text: string; readonly letter: string | undefined }[] = []
  PIECES.lastIndex = 0
  while (PIECES.lastIndex < pattern.length) {
    const from = PIECES.lastIndex
    const found = PIECES.exec(pattern)
    if (found === null) return pattern[from] ?? pattern
    const [piece, quoted, letter] = found
    const text = quoted === undefined ? piece : quoted === '' ? "'" : quoted.replaceAll("''", "'")
    pieces.push({ text, letter })
  }
  const elements: Element[] = []
  for (const { text, letter } of pieces.toReversed()) {
    const element = letter === undefined ? literal(text) : elementOf(letter, text.length, digitsBehind(elements))
    if (element === undefined) return letter ?? text
    elements.unshift(element)
  }
  return elements
}

/** Returns the digits that fixed numbers take directly behind. */
function digitsBehind(elements: readonly Element[]): number {
  const other = elements.findIndex(({ digits }) => digits === undefined)
  return elements.slice(0, other === -1 ? elements.length : other).reduce((sum, { digits = 0 }) => sum + digits, 0)
}

function literal(expected: string): Element {
  return { take: (text, at) => (text.startsWith(expected, at) ? at + expected.length : undefined) }
}

const numbers: Readonly<Record<string, Name>> = { d: 'day', H: 'hour', h: 'hour12', m: 'minute', s: 'second' }

const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'] // prettier-ignore
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

function elementOf(letter: string, count: number, behind: number): Element | undefined {
  const name = numbers[letter]
  if (name !== undefined && count <= 2) return count === 2 ? fixed(name, 2) : varying(name, 1, behind)
  switch (letter) {
    case 'y':
    case 'u':
      if (count === 2) return { ...fixed('year', 2), take: twoDigits }
      return count <= 4 ? varying('year', count, behind) : undefined
    case 'M':
      if (count <= 2) return count === 2 ? fixed('month', 2) : varying('month', 1, behind)
      return count <= 4 ? word('month', months, count, 1) : undefined
    case 'E':
      return count <= 4 ? word('weekday', weekdays, count, 0) : undefined
    case 'S':
      return count <= 9 ? fraction(count) : undefined
    case 'a':
      return count === 1 ? { take: halfOfDay } : undefined
    case 'Z':
      return count <= 3 ? offset(/[+-]\d{4}/y) : undefined
    case 'X':
    case 'x': {
      const forms = [/[+-]\d\d(?:\d\d)?/, /[+-]\d{4}/, /[+-]\d\d:\d\d/]
      const form = forms[count - 1]
      if (form === undefined) return undefined
      return offset(new RegExp(letter === 'X' ? `Z|${form.source}` : form.source, 'y'))
    }
    default:
      return undefined
  }
}

function fixed(name: Name, digits: number): Element {
  return { digits, take: (text, at, parts) => keepNumber(text, at, digits, name, parts) }
}

/** Reads a number of at least so many digits. Four digits are also the most, unless more numbers follow directly. */
function varying(name: Name, least: number, behind: number): Element {
  return {
    take: (text, at, parts) => {
      const run = /^\d*/.exec(text.slice(at))?.[0].length ?? 0
      const digits = Math.max(least, run - behind)
      return least === 4 && digits > 4 ? undefined : keepNumber(text, at, digits, name, parts)
    },
  }
}

function keepNumber(text: string, at: number, digits: number, name: Name, parts: Parts): number | undefined {
  const found = text.slice(at, at + digits)
  if (found.length < digits || !/^\d+$/.test(found)) return undefined
  return keep(parts, name, Number(found)) ? at + digits : undefined
}

/** Two parts of a pattern may say the same, and must agree. */
function keep(parts: Parts, name: Name, value: number): boolean {
  if (parts[name] !== undefined && parts[name] !== value) return false
  parts[name] = value
  return true
}

const twoDigits: Take = (text, at, parts) => {
  const found = text.slice(at, at + 2)
  return /^\d\d$/.test(found) && keep(parts, 'year', 2000 + Number(found)) ? at + 2 : undefined
}

function word(name: Name, words: readonly string[], count: number, first: number): Element {
  const shown = words.map(one => (count === 4 ? one : one.slice(0, 3)))
  return {
    take: (text, at, parts) => {
      const found = shown.findIndex(one => text.startsWith(one, at))
      return found >= 0 && keep(parts, name, found + first) ? at + (shown[found]?.length ?? 0) : undefined
    },
  }
}

function fraction(count: number): Element {
  return {
    take: (text, at, parts) => {
      const found = text.slice(at, at + count)
      if (found.length < count || !/^\d+$/.test(found)) return undefined
      return keep(parts, 'nano', Number(found.padEnd(9, '0'))) ? at + count : undefined
    },
  }
}

const halfOfDay: Take = (text, at, parts) => {
  const found = text.slice(at, at + 2)
  if (found !== 'AM' && found !== 'PM') return undefined
  parts.isPm = found === 'PM'
  return at + 2
}

function offset(form: RegExp): Element {
  return {
    take: (text, at, parts) => {
      form.lastIndex = at
      const found = form.exec(text)?.[0]
      if (found === undefined) return undefined
      const [hours, minutes] = [Number(found.slice(1, 3)), Number(found.slice(-2))]
      const isShort = found.length === 3
      const east = found === 'Z' ? 0 : hours * 60 + (isShort ? 0 : minutes)
      if (east > 18 * 60 || (!isShort && minutes > 59)) return undefined
      return keep(parts, 'offset', found.startsWith('-') ? -east : east) ? at + found.length : undefined
    },
  }
}

function millisOf(parts: Parts, round: 'down' | 'up'): number | undefined {
  const { year = 1970, offset: east = 0, nano } = parts
  const isUp = round === 'up'
  const { month = isUp ? 12 : 1 } = parts
  if (month < 1 || month > 12) return undefined
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate()
  const { day = isUp ? last : 1 } = parts
  const hour = hourOf(parts) ?? (isUp ? 23 : 0)
  const { minute = isUp ? 59 : 0, second = isUp ? 59 : 0 } = parts
  if (day < 1 || day > last || hour > 23 || minute > 59 || second > 59) return undefined
  const millis = nano === undefined ? (isUp ? 999 : 0) : Math.floor(nano / 1e6)
  const start = new Date(0)
  // The cluster does not compare the name of the weekday.
  start.setUTCFullYear(year, month - 1, day)
  return start.getTime() + ((hour * 60 + minute - east) * 60 + second) * 1000 + millis
}

function hourOf({ hour, hour12, isPm }: Parts): number | undefined {
  if (hour12 === undefined) return hour
  if (hour12 < 1 || hour12 > 12) return 99
  return isPm === undefined ? undefined : (hour12 % 12) + (isPm ? 12 : 0)
}
