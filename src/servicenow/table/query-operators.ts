/** Operators between a field and its value in an encoded query. */
const symbols = ['!=', '<=', '>=', '=', '<', '>']

const words = [
  'ANYTHING',
  'BETWEEN',
  'CHANGES',
  'CHANGESFROM',
  'CHANGESTO',
  'CONTAINS',
  'DATEPART',
  'DOES NOT CONTAIN',
  'DOESNOTCONTAIN',
  'DYNAMIC',
  'EMPTYSTRING',
  'ENDSWITH',
  'GT_FIELD',
  'GT_OR_EQUALS_FIELD',
  'IN',
  'INSTANCEOF',
  'ISEMPTY',
  'ISNOTEMPTY',
  'LESSTHAN',
  'LIKE',
  'LT_FIELD',
  'LT_OR_EQUALS_FIELD',
  'MATCH_PAT',
  'MATCH_RGX',
  'MORETHAN',
  'NOT IN',
  'NOT LIKE',
  'NOTIN',
  'NOTLIKE',
  'NOTON',
  'NSAMEAS',
  'ON',
  'RELATIVEEE',
  'RELATIVEGE',
  'RELATIVEGT',
  'RELATIVELE',
  'RELATIVELT',
  'SAMEAS',
  'STARTSWITH',
  'VALCHANGES',
]

/** The longest first: `INSTANCEOF` begins as `IN` does. */
const operators = [...symbols, ...words].sort((a, b) => b.length - a.length)

const usual = new RegExp(`^([a-z0-9_.]+)(${operators.join('|')})([\\s\\S]*)$`)
const unusual = new RegExp(`^([A-Za-z0-9_.]+?)(${symbols.join('|')})([\\s\\S]*)$`)

export interface Condition {
  /** The condition as written. */
  readonly text: string
  readonly field: string
  readonly operator: string
  readonly value: string
}

/**
 * Returns undefined if no known operator is found. Capitals in a name could belong to an operator, so only signs
 * count in such a name.
 */
export function parseCondition(text: string): Condition | undefined {
  const [, field, operator, value] = usual.exec(text) ?? unusual.exec(text) ?? []
  if (field === undefined || operator === undefined || value === undefined) return undefined
  return { text, field, operator, value }
}
