import type { Instance, Row } from '../../../route/servicenow/instance.js'
import { stored } from './row.js'
import { fail, SluiceError } from '../../../base/failure/failure.js'

/** `a=1^b=2^ORc=3^NQd=4`: one of the parts must hold. In a part, one condition of each group must hold. */
export interface EncodedQuery {
  readonly parts: readonly QueryPart[]
  /** Pieces that are not conditions. */
  readonly unknown: readonly string[]
  /** `ORDERBY…` and `GROUPBY…`, which would change the order of pages. */
  readonly ordering: readonly string[]
}

interface QueryPart {
  readonly text: string
  readonly all: readonly (readonly QueryCondition[])[]
}

/** Conditions on other tables, up to their end. They stay unchanged. */
const nested = new Map([
  ['RLQUERY', 'ENDRLQUERY'],
  ['SUBQUERY', 'ENDSUBQUERY'],
])

export function parseQuery(text: string): EncodedQuery {
  const parts: { pieces: string[]; all: QueryCondition[][] }[] = [{ pieces: [], all: [] }]
  const unknown: string[] = []
  const ordering: string[] = []
  let until: string | undefined
  for (const whole of split(text)) {
    // EQ is how lists of the platform end their queries.
    if (whole === '' || whole === 'EQ') continue
    if (until === undefined && whole.startsWith('NQ')) parts.push({ pieces: [], all: [] })
    const piece = until === undefined && whole.startsWith('NQ') ? whole.slice(2) : whole
    if (piece === '') continue
    const part = parts.at(-1)
    if (part === undefined) continue
    if (/^(?:ORDERBY|GROUPBY)/.test(piece) && until === undefined) {
      ordering.push(piece)
      continue
    }
    part.pieces.push(piece)
    until ??= [...nested].find(([begin]) => piece.startsWith(begin))?.[1]
    if (until !== undefined) {
      if (piece.startsWith(until)) until = undefined
      continue
    }
    const isOr = piece.startsWith('OR')
    const condition = parseCondition(isOr ? piece.slice(2) : piece)
    const alternatives = part.all.at(-1)
    if (condition === undefined) unknown.push(piece)
    else if (isOr && alternatives !== undefined) alternatives.push(condition)
    else part.all.push([condition])
  }
  const [first = { pieces: [], all: [] }, ...more] = parts
  // An empty part counts only if it is the only one.
  const saying = [first, ...more].filter(part => part.pieces.length > 0)
  const kept = saying.length === 0 ? [first] : saying
  return { parts: kept.map(part => ({ text: part.pieces.join('^'), all: part.all })), unknown, ordering }
}

/** Adds an order, and a condition to every part. */
export function queryWith({ parts }: EncodedQuery, condition: string, orderBy: string): string {
  const body = parts.map(({ text }) => [text, condition].filter(piece => piece !== '').join('^')).join('^NQ')
  return body === '' ? orderBy : `${body}^${orderBy}`
}

/** Returns the fields that have checkable conditions. A full-text search names no field. */
export function fieldsOf({ parts }: EncodedQuery): string[] {
  const conditions = parts.flatMap(({ all }) => all.flat())
  return [...new Set(conditions.map(({ field }) => field).filter(field => /[a-z]/.test(field)))]
}

/** Splits at each `^`. A double `^` stands for one inside a value. */
function split(text: string): string[] {
  const found: string[] = []
  let piece = ''
  for (let at = 0; at < text.length; at++) {
    const isCaret = text[at] === '^'
    if (isCaret && text[at + 1] === '^') {
      piece += '^^'
      at++
    } else if (isCaret) {
      found.push(piece)
      piece = ''
    } else {
      piece += text[at]
    }
  }
  return [...found, piece]
}

/**
 * Finds a condition that a received row certainly does not meet: the platform did not understand it. Judges only
 * numbers, booleans and ids, because the platform's rules for comparing texts, choices and times are not known well
 * enough.
 */
export function unmet({ parts }: EncodedQuery): (row: Row) => QueryCondition | undefined {
  const [only, ...others] = parts
  const alternatives = only === undefined || others.length > 0 ? [] : only.all
  const certain = alternatives.flatMap(all => {
    const [condition, ...or] = all
    const meets = condition === undefined || or.length > 0 ? undefined : judgeOf(condition)
    return condition === undefined || meets === undefined ? [] : [{ condition, meets }]
  })
  return row =>
    certain.find(({ condition, meets }) => {
      const cell = row[condition.field]
      return cell !== undefined && meets(stored(cell)) === false
    })?.condition
}

type Judge = (value: string) => boolean | undefined

function judgeOf({ operator, value }: QueryCondition): Judge | undefined {
  if (operator === 'IN') return judgeOneOf(value.split(','))
  const same = judgeOneOf([value])
  if (same === undefined || operator === '=') return operator === '=' ? same : undefined
  if (operator !== '!=') return undefined
  return found => {
    const isSame = same(found)
    return isSame === undefined ? undefined : !isSame
  }
}

const forms = [/^(?:0|-?[1-9]\d{0,14})$/, /^(?:true|false)$/, /^[0-9a-f]{32}$/]

/** Returns undefined if the values do not share one comparable form. */
function judgeOneOf(values: readonly string[]): Judge | undefined {
  const form = forms.find(one => values.every(value => one.test(value)))
  if (form === undefined) return undefined
  return found => (form.test(found) ? values.includes(found) : undefined)
}

/** Makes the error for a part of the request that the platform would silently ignore. */
export function ignored({ instance, table }: Asked, part: string, problem: string): SluiceError {
  return fail('SERVICENOW_QUERY_IGNORED', { instance: instance.display, table, part, problem })
}

interface Asked {
  readonly instance: Pick<Instance, 'display'>
  readonly table: string
}

const symbols = ['!=', '<=', '>=', '=', '<', '>']

const words = [
  'ANYTHING', 'BETWEEN', 'CHANGES', 'CHANGESFROM', 'CHANGESTO', 'CONTAINS', 'DATEPART', 'DOES NOT CONTAIN', 'DOESNOTCONTAIN',
  'DYNAMIC', 'EMPTYSTRING', 'ENDSWITH', 'GT_FIELD', 'GT_OR_EQUALS_FIELD', 'IN', 'INSTANCEOF', 'ISEMPTY', 'ISNOTEMPTY', 'LESSTHAN',
  'LIKE', 'LT_FIELD', 'LT_OR_EQUALS_FIELD', 'MATCH_PAT', 'MATCH_RGX', 'MORETHAN', 'NOT IN', 'NOT LIKE', 'NOTIN', 'NOTLIKE',
  'NOTON', 'NSAMEAS', 'ON', 'RELATIVEEE', 'RELATIVEGE', 'RELATIVEGT', 'RELATIVELE', 'RELATIVELT', 'SAMEAS', 'STARTSWITH',
  'VALCHANGES',
] // prettier-ignore

/** The longest come first, because `INSTANCEOF` begins with `IN`. */
const operators = [...symbols, ...words].sort((a, b) => b.length - a.length)

const usual = new RegExp(`^([a-z0-9_.]+)(${operators.join('|')})([\\s\\S]*)$`)
const unusual = new RegExp(`^([A-Za-z0-9_.]+?)(${symbols.join('|')})([\\s\\S]*)$`)

interface QueryCondition {
  readonly text: string
  readonly field: string
  readonly operator: string
  readonly value: string
}

/** Capitals in a name could belong to an operator, so such a name must be followed by a sign. */
function parseCondition(text: string): QueryCondition | undefined {
  const [, field, operator, value] = usual.exec(text) ?? unusual.exec(text) ?? []
  if (field === undefined || operator === undefined || value === undefined) return undefined
  return { text, field, operator, value }
}
