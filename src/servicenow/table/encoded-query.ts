import { type Condition, parseCondition } from './query-operators.js'

export type { Condition } from './query-operators.js'

/** `a=1^b=2^ORc=3^NQd=4`: parts of which one has to hold, each of alternatives that all have to hold, each of conditions. */
export interface EncodedQuery {
  readonly parts: readonly QueryPart[]
  /** Pieces that are no condition. */
  readonly unknown: readonly string[]
  /** `ORDERBY…`, `GROUPBY…`: they would change the order in which pages follow one another. */
  readonly ordering: readonly string[]
}

interface QueryPart {
  readonly text: string
  readonly all: readonly (readonly Condition[])[]
}

/** Conditions on other tables, up to their end: taken as they are. */
const nested = new Map([
  ['RLQUERY', 'ENDRLQUERY'],
  ['SUBQUERY', 'ENDSUBQUERY'],
])

export function parseQuery(text: string): EncodedQuery {
  const parts: { pieces: string[]; all: Condition[][] }[] = [{ pieces: [], all: [] }]
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
  // A part that says nothing is none, unless it is the only one.
  const saying = [first, ...more].filter(part => part.pieces.length > 0)
  const kept = saying.length === 0 ? [first] : saying
  return { parts: kept.map(part => ({ text: part.pieces.join('^'), all: part.all })), unknown, ordering }
}

/** The query with one more condition, which has to hold in every part, and an order. */
export function queryWith({ parts }: EncodedQuery, condition: string, orderBy: string): string {
  const body = parts.map(({ text }) => [text, condition].filter(piece => piece !== '').join('^')).join('^NQ')
  return body === '' ? orderBy : `${body}^${orderBy}`
}

/** Fields whose conditions can be judged by asking for them; full-text search names none. */
export function fieldsOf({ parts }: EncodedQuery): string[] {
  const conditions = parts.flatMap(({ all }) => all.flat())
  return [...new Set(conditions.map(({ field }) => field).filter(field => /[a-z]/.test(field)))]
}

/** Cut at each `^`; two of them are one in a value. */
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
