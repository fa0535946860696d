/** Reads dates of documents, and writes them in the parts of an index name. All in UTC. */

export interface DateFormat {
  /** `yyyy`, `MM`, `dd`, `HH`, `xxxx`, `ww`, and the text between them. */
  readonly parts: readonly string[]
}

const TOKENS = /(yyyy|MM|dd|HH|xxxx|ww)/
/** Characters between the parts of a date. */
const BETWEEN = /^[._-]*$/

/** Returns a format, or why the text is none. */
export function readDateFormat(text: string): DateFormat | { readonly problem: string } {
  const parts = text.split(TOKENS).filter(part => part !== '')
  const isOfWeeks = parts.includes('ww') || parts.includes('xxxx')
  const wrong = parts.find(part => !TOKENS.test(part) && !BETWEEN.test(part))
  if (wrong !== undefined || !parts.some(part => TOKENS.test(part)))
    return {
      problem: `'${text}' is not a date format. Use yyyy, MM, dd and HH, or xxxx and ww, with . _ or - between them`,
    }
  if (isOfWeeks && ['yyyy', 'MM', 'dd'].some(part => parts.includes(part)))
    return { problem: `'${text}' mixes weeks and days. The year of a week is xxxx, as in xxxx.ww` }
  return { parts }
}

export function formatDate(ms: number, { parts }: DateFormat): string {
  const date = new Date(ms)
  return parts.map(part => writers[part]?.(date) ?? part).join('')
}

const writers: Readonly<Record<string, (date: Date) => string>> = {
  yyyy: date => padded(date.getUTCFullYear(), 4),
  MM: date => padded(date.getUTCMonth() + 1, 2),
  dd: date => padded(date.getUTCDate(), 2),
  HH: date => padded(date.getUTCHours(), 2),
  xxxx: date => padded(thursdayOf(date).getUTCFullYear(), 4),
  ww: date => padded(weekOf(date), 2),
}

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, '0')
}

const DAY_MS = 86_400_000

/** A week of ISO 8601 belongs to the year of its Thursday. */
function thursdayOf(date: Date): Date {
  const days = Math.floor(date.getTime() / DAY_MS)
  // 1970-01-01 was a Thursday.
  const sinceMonday = (((days + 3) % 7) + 7) % 7
  return new Date((days - sinceMonday + 3) * DAY_MS)
}

function weekOf(date: Date): number {
  const thursday = thursdayOf(date)
  const first = new Date(thursday)
  first.setUTCMonth(0, 1)
  return 1 + Math.floor((thursday.getTime() - first.getTime()) / DAY_MS / 7)
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):([0-5]\d)(?::[0-5]\d(?:[.,]\d+)?)?(?:Z|([+-])(\d\d)(?::?([0-5]\d))?)?)?$/
const SECONDS = /^\d{9,10}(?:\.\d+)?$/
const MILLISECONDS = /^\d{12,13}$/

/**
 * Returns the time, to the minute, that a string or number of a document says. ISO 8601: a date, or a date and a time, with a zone or in
 * UTC. Or seconds (9 or 10 digits) or milliseconds (12 or 13) since 1970. Undefined if it says no time.
 */
export function readTime(text: string): number | undefined {
  if (SECONDS.test(text)) return Math.floor(Number(text)) * 1000
  if (MILLISECONDS.test(text)) return Number(text)
  const [, year, month, day, hour = '0', minute = '0', sign, zoneHours = '0', zoneMinutes = '0'] = ISO.exec(text) ?? []
  if (year === undefined || Number(hour) > 23 || Number(zoneHours) > 18) return undefined
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return undefined
  const ahead = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -1 : 1)
  const time = date.getTime() + (Number(hour) * 60 + Number(minute) - ahead) * 60_000
  const yearInUtc = new Date(time).getUTCFullYear()
  return yearInUtc < 0 || yearInUtc > 9999 ? undefined : time
}

/** Returns the nanoseconds since 1970 of a date in ISO 8601. Undefined if the text is none, or more precise. */
export function readInstant(text: string): bigint | undefined {
  const parts = ISO.exec(text)
  const minute = parts === null ? undefined : readTime(text)
  if (minute === undefined) return undefined
  const [, seconds = '0', fraction = ''] = /:[0-5]\d:(\d\d)(?:[.,](\d+))?/.exec(text) ?? []
  const digits = fraction.replace(/0+$/, '')
  return digits.length > 9 ? undefined : BigInt(minute) * 1_000_000n + BigInt(seconds + digits.padEnd(9, '0'))
}
