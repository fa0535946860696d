/** Reads dates by the `format` of a mapping: patterns of Java, and names of Elasticsearch. */
import { readPattern } from './date-pattern.js'

/** What reads the dates of a field. */
export interface DateFormat {
  /** Returns milliseconds since 1970, or why the text is no date. `round`: to which end of a coarse time. */
  read(text: string, round?: 'down' | 'up'): number | string
}

/** Formats with names. */
const named: Readonly<Record<string, DateFormat>> = {
  epoch_millis: epoch(1),
  epoch_second: epoch(1000),
  strict_date_optional_time: { read: optionalTime },
  ...ofPatterns({
    strict_date: 'uuuu-MM-dd',
    strict_year_month_day: 'uuuu-MM-dd',
    strict_year_month: 'uuuu-MM',
    strict_year: 'uuuu',
    basic_date: 'uuuuMMdd',
    strict_date_time: "uuuu-MM-dd'T'HH:mm:ss.SSSXXX",
    strict_date_time_no_millis: "uuuu-MM-dd'T'HH:mm:ssXXX",
    strict_date_hour_minute_second: "uuuu-MM-dd'T'HH:mm:ss",
    strict_date_hour_minute: "uuuu-MM-dd'T'HH:mm",
  }),
}

function ofPatterns(patterns: Readonly<Record<string, string>>): Record<string, DateFormat> {
  return Object.fromEntries(
    Object.entries(patterns).flatMap(([name, pattern]) => {
      const read = readPattern(pattern)
      return typeof read === 'string' ? [] : [[name, { read }]]
    }),
  )
}

const known = new Map<string, DateFormat | undefined>()

/** Returns what reads dates of a format, such as `dd.MM.yyyy||epoch_millis`. Undefined: the lab does not know it. */
export function dateFormat(format: string): DateFormat | undefined {
  if (!known.has(format)) known.set(format, formatOf(format))
  return known.get(format)
}

function formatOf(format: string): DateFormat | undefined {
  const all = format.split('||').map(one => {
    if (Object.hasOwn(named, one)) return named[one]
    const read = readPattern(one)
    return typeof read === 'string' ? undefined : { read }
  })
  const [first, ...others] = all
  if (first === undefined || all.includes(undefined)) return undefined
  if (others.length === 0) return first
  return {
    read: (text, round) => {
      for (const one of all) {
        const found = one?.read(text, round)
        if (typeof found === 'number') return found
      }
      return 'Failed to parse with all enclosed parsers'
    },
  }
}

function epoch(unit: number): DateFormat {
  return {
    read: text => (/^-?\d+(?:\.\d*)?$/.test(text) ? Math.floor(Number(text) * unit) : couldNot(text)),
  }
}

function couldNot(text: string): string {
  return `Text '${text}' could not be parsed at index 0`
}

const date =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(?:(\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)?)?(Z|[+-]\d\d(?::?\d\d)?)?)?)?)?$/

/** Reads a date with as much of its time as there is. */
function optionalTime(text: string, round: 'down' | 'up' = 'down'): number | string {
  const found = date.exec(text)
  if (found === null) return couldNot(text)
  const [year = '', month, day, hour, minute, second, fraction, zone] = found.slice(1)
  const parts = [Number(year), Number(month ?? 1) - 1, Number(day ?? 1), Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0)] as const // prettier-ignore
  const millis = fraction === undefined ? 0 : Number(fraction.padEnd(3, '0').slice(0, 3))
  const utc = Date.UTC(...parts, millis)
  if (!isDay(parts) || parts[3] > 23 || parts[4] > 59 || parts[5] > 59) return couldNot(text)
  // The end of a coarse time. A month or a year without a day means its first day.
  const span = [hour, minute, second, fraction].findIndex(part => part === undefined)
  return utc - offsetOf(zone) + (round === 'down' || span < 0 ? 0 : (spans[span] ?? 1) - 1)
}

function isDay([year, month, day]: readonly [number, number, number, ...number[]]): boolean {
  const made = new Date(Date.UTC(year, month, day))
  return made.getUTCMonth() === month && made.getUTCDate() === day
}

/** Milliseconds of a day, an hour, a minute and a second. */
const spans = [86_400_000, 3_600_000, 60_000, 1000]

function offsetOf(zone: string | undefined): number {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone ?? '') ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}
