import type { Condition, EncodedQuery } from './encoded-query.js'
import { type Row, stored } from './table-row.js'

/**
 * A condition of the query that a row which came does certainly not meet: the platform did not understand it. Undefined: none is known.
 * How the platform compares texts, choices and times is not known well enough: judged are numbers, truth values and ids alone.
 */
export function unmet({ parts }: EncodedQuery): (row: Row) => Condition | undefined {
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

function judgeOf({ operator, value }: Condition): Judge | undefined {
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

/** Undefined where the values are not all of one of the forms that can be compared; of a value of another form nothing is said. */
function judgeOneOf(values: readonly string[]): Judge | undefined {
  const form = forms.find(one => values.every(value => one.test(value)))
  if (form === undefined) return undefined
  return found => (form.test(found) ? values.includes(found) : undefined)
}
