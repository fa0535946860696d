/** The operators that the platform knows, in the order of search: longer ones first. */
const operators = [
  'ISNOTEMPTY', 'STARTSWITH', 'ENDSWITH', 'NOT LIKE', 'ISEMPTY', 'NOT IN', 'LIKE', 'IN', '!=', '>=', '<=', '=', '>', '<',
] as const // prettier-ignore
type Operator = (typeof operators)[number]

export interface Condition {
  readonly field: string
  readonly operator: Operator
  readonly value: string
}

interface Order {
  readonly field: string
  readonly isDescending: boolean
}

/** An encoded query, without the parts that mean nothing. */
export interface Query {
  /** A row matches if all clauses of any alternative (`^NQ`) hold. A clause holds if any of its conditions (`^OR`) holds. */
  readonly alternatives: readonly (readonly (readonly Condition[])[])[]
  readonly orderBy: readonly Order[]
  /** Parts with a field or an operator that is not known. */
  readonly invalid: readonly string[]
}

/**
 * Reads `sysparm_query`. Like the platform, silently ignores a part that it does not know, so that the query matches more
 * rows. `isField`: whether the table has a field. Dots follow references.
 */
export function parseQuery(text: string, isField: (field: string) => boolean): Query {
  const alternatives: Condition[][][] = [[]]
  const orderBy: Order[] = []
  const invalid: string[] = []
  for (const part of partsOf(text)) {
    const order = /^ORDERBY(DESC)?(.*)$/.exec(part)
    if (order) {
      const field = order[2] ?? ''
      if (isField(field)) orderBy.push({ field, isDescending: order[1] !== undefined })
      else invalid.push(part)
      continue
    }
    const [, joint = '', rest = ''] = /^(NQ|OR)?(.*)$/s.exec(part) ?? []
    if (joint === 'NQ') alternatives.push([])
    const condition = conditionOf(rest)
    if (!condition || !isField(condition.field)) {
      invalid.push(part)
      continue
    }
    const clauses = alternatives.at(-1) ?? []
    const last = clauses.at(-1)
    if (joint === 'OR' && last) last.push(condition)
    else clauses.push([condition])
  }
  return { alternatives, orderBy, invalid }
}

/** Splits at carets. Two carets stand for one in a value. `EQ` ends a query and has no meaning. */
function partsOf(text: string): string[] {
  const parts = text.replaceAll('^^', '\0').split('^')
  return parts.map(part => part.replaceAll('\0', '^')).filter(part => part !== '' && part !== 'EQ' && part !== 'NQ')
}

function conditionOf(text: string): Condition | undefined {
  const field = /^[a-z_][a-z0-9_.]*/.exec(text)?.[0]
  if (field === undefined) return undefined
  const rest = text.slice(field.length)
  const operator = operators.find(one => rest.startsWith(one))
  return operator && { field, operator, value: rest.slice(operator.length) }
}
