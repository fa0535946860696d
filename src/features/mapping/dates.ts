/** Recognises dates in texts, by the formats of Elasticsearch that read them. */

export const ISO = 'strict_date_optional_time'

const iso =
  /^(?<y>\d{4})-(?<M>\d{2})(?:-(?<d>\d{2})(?:T(?:[01]\d|2[0-3])(?::[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?)?$/

/** As databases and programs write them: with as many digits of a second, and as much of a zone, as they like. */
const written =
  /^(?<y>\d{4})-(?<M>\d{2})-(?<d>\d{2}) (?:[01]\d|2[0-3]):[0-5]\d(?:(?<seconds>:[0-5]\d)(?:\.(?<digits>\d{1,9}))?(?<zone>Z|[+-]\d{2}(?:\d{2})?|[+-]\d{2}:\d{2}| [+-]\d{4}| UTC)?)?$/

function writtenFormat({ groups = {} }: RegExpExecArray): string {
  const { seconds, digits = '', zone } = groups
  if (seconds === undefined) return 'yyyy-MM-dd HH:mm'
  return `yyyy-MM-dd HH:mm:ss${digits && '.'}${'S'.repeat(digits.length)}${zone === undefined ? '' : zoneFormat(zone)}`
}

function zoneFormat(zone: string): string {
  if (zone === ' UTC') return " 'UTC'"
  if (zone.startsWith(' ')) return ' Z'
  return zone.includes(':') ? 'XXX' : 'X'
}

/** As people, spreadsheets, databases, web servers and mail write them. The first one of several that fit is preferred. */
const patterns = [
  ...withTimes('yyyy/MM/dd', '', ' HH:mm', ' HH:mm:ss'),
  ...withTimes('dd.MM.yyyy', '', ' HH:mm', ' HH:mm:ss'),
  ...withTimes('d.M.yyyy', '', ' H:mm', ' H:mm:ss'),
  ...withTimes('dd/MM/yyyy', '', ' HH:mm', ' HH:mm:ss'),
  ...withTimes('MM/dd/yyyy', '', ' HH:mm', ' HH:mm:ss'),
  ...withTimes('d/M/yyyy', '', ' H:mm', ' H:mm:ss'),
  ...withTimes('M/d/yyyy', '', ' H:mm', ' H:mm:ss', ' h:mm a', ' h:mm:ss a'),
  ...withTimes('dd-MM-yyyy', '', ' HH:mm', ' HH:mm:ss'),
  ...withTimes('MM-dd-yyyy', '', ' HH:mm', ' HH:mm:ss'),
  ...withTimes('dd MMM yyyy', ''),
  ...withTimes('dd-MMM-yyyy', ''),
  ...withTimes('dd/MMM/yyyy', ':HH:mm:ss Z'),
  ...withTimes('d MMM yyyy', ''),
  ...withTimes('d-MMM-yyyy', ''),
  ...withTimes('MMM d yyyy', ''),
  ...withTimes('MMM d, yyyy', ''),
  ...withTimes('MMMM d, yyyy', ''),
  ...withTimes('d MMMM yyyy', ''),
  ...withTimes('EEE, dd MMM yyyy', ' HH:mm:ss Z', " HH:mm:ss 'GMT'"),
  'EEE MMM dd HH:mm:ss Z yyyy',
]

function withTimes(day: string, ...times: readonly string[]): string[] {
  return times.map(time => day + time)
}

const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'] // prettier-ignore

const parts: Readonly<Record<string, string>> = {
  yyyy: String.raw`(?<y>\d{4})`,
  MM: String.raw`(?<M>\d{2})`,
  M: String.raw`(?<M>\d{1,2})`,
  MMM: `(?:${months.map(name => name.slice(0, 3)).join('|')})`,
  MMMM: `(?:${months.join('|')})`,
  dd: String.raw`(?<d>\d{2})`,
  d: String.raw`(?<d>\d{1,2})`,
  EEE: '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)',
  HH: String.raw`(?:[01]\d|2[0-3])`,
  H: String.raw`(?:[01]?\d|2[0-3])`,
  h: String.raw`(?:0?[1-9]|1[0-2])`,
  mm: String.raw`[0-5]\d`,
  ss: String.raw`[0-5]\d`,
  a: '[AP]M',
  Z: String.raw`[+-]\d{4}`,
}

const formats: readonly (readonly [format: string, pattern: RegExp])[] = [
  [ISO, iso],
  ...patterns.map(format => [format, patternOf(format)] as const),
]

function patternOf(format: string): RegExp {
  const text = format.replaceAll(/'([^']*)'|([a-zA-Z])\2*|[.]/g, (piece, quoted?: string, letter?: string) => {
    if (quoted !== undefined) return quoted
    return letter === undefined ? String.raw`\.` : (parts[piece] ?? piece)
  })
  return new RegExp(`^${text}$`)
}

/** By how a text begins: with a year, with another number, or with a word. */
const groups = [/^\d{4}/, /^\d{1,2}\D/, /^[A-Z][a-z]{2}/].map(
  start => [start, formats.filter(([format]) => start.test(exampleOf(format)))] as const,
)

function exampleOf(format: string): string {
  return format === ISO
    ? '2026'
    : format
        .replace(/^yyyy/, '2026')
        .replace(/^[dM]{1,2}(?![dM])/, '1')
        .replace(/^[ME]{3,}/, 'Mon')
}

/** Returns the formats that read a text. A text such as 03/04/2026 has two. */
export function dateFormatsOf(text: string): readonly string[] {
  // Most texts are no dates.
  if (text.length < 7 || text.length > 35) return []
  const found = written.exec(text)
  if (found !== null) return isDay(found) ? [writtenFormat(found)] : []
  const candidates = groups.find(([start]) => start.test(text))?.[1] ?? []
  return candidates.flatMap(([format, pattern]) => (isDay(pattern.exec(text)) ? [format] : []))
}

function isDay(found: RegExpExecArray | null): boolean {
  if (found === null) return false
  const { y: year = '2000', M: month = '1', d: day = '1' } = found.groups ?? {}
  const [y, m, d] = [Number(year), Number(month), Number(day)]
  // A code such as 0815-12 is no month.
  if (found.groups?.['d'] === undefined && (y < 1000 || y > 2999)) return false
  return m >= 1 && m <= 12 && d >= 1 && d <= new Date(Date.UTC(y, m, 0)).getUTCDate()
}

/**
 * Returns what reads all dates of a field, as a mapping names it. `formats`: those that read them. Undefined: no date shows whether the day
 * or the month comes first.
 */
export function formatOf(formats: readonly string[]): string | undefined {
  // Those with one digit also read days of two.
  const padded = new Set(formats.filter(format => /dd|(?<!M)MM(?!M)|HH/.test(format)).map(unpadded))
  const left = formats.filter(format => unpadded(format) !== format || !padded.has(format))
  const orders = new Set(left.map(format => /^(d|M)\1?[/-](?=[dM])/.exec(format)?.[1] ?? ''))
  return left.length > 1 && orders.has('d') && orders.has('M') ? undefined : left.join('||')
}

function unpadded(format: string): string {
  return format
    .replace(/dd/, 'd')
    .replace(/(?<!M)MM(?!M)/, 'M')
    .replace(/HH/, 'H')
}
