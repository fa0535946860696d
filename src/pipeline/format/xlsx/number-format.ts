/** Writes dates and times, which a workbook holds as numbers of days with a format. Source: ECMA-376, part 1, 18.8.30 and 18.17.4. */

/** What a number with a format stands for. `elapsed`: a time that may have more than 24 hours. */
export type Meaning = 'number' | 'date' | 'moment' | 'time' | 'elapsed'

const dates = [14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58]
const times = [18, 19, 20, 21, 32, 33, 34, 35, 45, 47, 55, 56]

/** The formats that a workbook does not list. */
const builtIn = new Map<number, Meaning>([
  ...dates.map((id): [number, Meaning] => [id, 'date']),
  ...times.map((id): [number, Meaning] => [id, 'time']),
  [22, 'moment'],
  [46, 'elapsed'],
])

/** `code`: that of a format which the workbook lists. */
export function meaningOf(id: number, code: string | undefined): Meaning {
  if (code === undefined) return builtIn.get(id) ?? 'number'
  const [, elapsed] = /\[(h+|m+|s+)\]/i.exec(withoutTexts(code)) ?? []
  if (elapsed !== undefined) return 'elapsed'
  // Only the first section is for all numbers.
  const [section = ''] = withoutTexts(code)
    .replaceAll(/\[[^\]]*\]/g, '')
    .split(';')
  if (/general/i.test(section)) return 'number'
  const letters = section.replaceAll(/am\/pm|a\/p/gi, 'h')
  const hasTime = /[hs]/i.test(letters)
  const hasDate = /[yd]/i.test(letters) || (!hasTime && /m/i.test(letters))
  if (!hasDate) return hasTime ? 'time' : 'number'
  return hasTime ? 'moment' : 'date'
}

/** Leaves out what a format shows as it stands: quoted texts, and single characters behind `\`, `_` and `*`. */
function withoutTexts(code: string): string {
  return code.replaceAll(/"[^"]*"|[\\_*]./gs, '')
}

const DAY_MS = 86_400_000
/** Of an ISO date, and of one with a time in seconds. */
const DATE_LENGTH = 10
const MOMENT_LENGTH = 19

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** The day before the first one. Until February 1900 it is a day later: the first of such programs took 1900 for a leap year. */
const EPOCH_1900 = Date.UTC(1899, 11, 30)
const LEAP_DAY = 60
const EPOCH_1904 = Date.UTC(1904, 0, 1)
/** The end of the year 9999. */
const END = Date.UTC(10_000, 0, 1)

/** Returns a date, a time or both in ISO 8601, without a zone. Undefined: the number is no date. */
export function writtenDate(days: number, meaning: Exclude<Meaning, 'number'>, is1904: boolean): string | undefined {
  const ms = Math.round(days * DAY_MS)
  if (!Number.isSafeInteger(ms)) return undefined
  if (meaning === 'elapsed') return `${ms < 0 ? '-' : ''}${clockTime(Math.abs(ms))}`
  if (ms < 0) return undefined
  if (meaning === 'time' && days < 1) return clockTime(Math.min(ms, DAY_MS - 1))
  const epoch = is1904 ? EPOCH_1904 : EPOCH_1900 + (days < LEAP_DAY ? DAY_MS : 0)
  if (epoch + ms >= END) return undefined
  const text = new Date(epoch + ms).toISOString()
  if (meaning === 'date' && ms % DAY_MS === 0) return text.slice(0, DATE_LENGTH)
  return text.slice(0, ms % 1000 === 0 ? MOMENT_LENGTH : -1)
}

/** Returns hours, minutes and seconds, and milliseconds if there are any. */
function clockTime(ms: number): string {
  const [hours, minutes, seconds] = [
    Math.floor(ms / HOUR_MS),
    Math.floor((ms % HOUR_MS) / MINUTE_MS),
    Math.floor((ms % MINUTE_MS) / 1000),
  ]
  const whole = [hours, minutes, seconds].map(part => String(part).padStart(2, '0')).join(':')
  return ms % 1000 === 0 ? whole : `${whole}.${String(ms % 1000).padStart(3, '0')}`
}
