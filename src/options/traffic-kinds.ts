/** The kinds of values that limit traffic: rates, and the monthly plan of a proxy. */
import { kind, Problem, size, wholeNumber } from './kinds.js'
import { type Check, jsonObject, problemIn, whole } from './option-checks.js'
import type { MaxRate } from './ingest-options.js'

const MOST = Number.MAX_SAFE_INTEGER
const bytesPerSecond = size({ min: 1000, max: 1e15 })
const documentsPerSecond = wholeNumber({ min: 1, max: 1e12 })

const isRate: Check = value => {
  const problem = jsonObject(value)
  if (problem !== undefined) return problem
  const found = problemIn(value, { bytes: whole(1000, MOST), documents: whole(1, MOST) })
  if (found !== undefined) return [found.option, found.problem].filter(Boolean).join(' ')
  return Object.keys(value as object).length === 1 ? undefined : 'is not one of { bytes } and { documents }'
}

/** Reads `20mb/s` and `5000docs/s`. */
export function maxRate() {
  return kind('rate', isRate, (value): MaxRate | Problem => {
    const [, documents] = /^([\d_]+)\s*(?:docs|documents)\/s$/i.exec(value) ?? []
    const [, bytes] = /^(.*?)\/s$/i.exec(value) ?? []
    const given = documents ?? bytes
    if (given === undefined)
      return new Problem('is not a rate. Write bytes or documents per second, as in 20mb/s or 5000docs/s')
    const read = (documents === undefined ? bytesPerSecond : documentsPerSecond).read(given)
    if (read instanceof Problem) return new Problem(`${read.text} per second`)
    return documents === undefined ? { bytes: read } : { documents: read }
  })
}
