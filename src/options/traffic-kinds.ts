/** The kinds of values that limit traffic: rates, and the monthly plan of a proxy. */
import { kind, Problem, size, wholeNumber } from './kinds.js'
import { type Check, jsonObject, oneOf, problemIn, whole } from './option-checks.js'
import type { MaxRate, PlanLimit } from './ingest-options.js'

const MOST = Number.MAX_SAFE_INTEGER
const bytesPerSecond = size({ min: 1000, max: 1e15 })
const documentsPerSecond = wholeNumber({ min: 1, max: 1e12 })

const isRate: Check = value => {
  const problem = jsonObject(value)
  if (problem !== undefined) return problem
  const found = problemIn(value, { bytes: whole(1000, MOST), documents: whole(1, MOST) })
  if (found !== undefined) return [found.option, found.problem].filter(Boolean).join(' ')
  return Object.keys(value as object).length === 1 ? undefined : 'must be either { bytes } or { documents }'
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

const plan = size({ min: 1000, max: 1e15 }, { max: MOST })

/** Reads the size in `100gb/month`. */
export const planSize = kind('size/month', plan.check, value => plan.read(value.replace(/\s*\/\s*month$/i, '')))

const isLimit: Check = value => {
  if (jsonObject(value) !== undefined) return oneOf('report', 'stop', 'slow')(value)
  const found = problemIn(value, { stop: whole(1, 100), slow: whole(1, 100) })
  if (found !== undefined) return [found.option, found.problem].filter(Boolean).join(' ')
  return Object.keys(value as object).length === 1 ? undefined : 'must be either { stop } or { slow }'
}

/** Reads `stop`, `slow=80%` and `report`. */
export function planLimit() {
  return kind('report|stop|slow[=share]', isLimit, (value): PlanLimit | Problem => {
    const [, action = '', share] = /^(report|stop|slow)(?:=(\d+)%)?$/i.exec(value) ?? []
    const name = action.toLowerCase()
    if (name === 'report' && share === undefined) return name
    const percent = Number(share)
    if (share !== undefined && (percent < 1 || percent > 100)) return new Problem('has no share from 1% to 100%')
    if (name === 'stop') return share === undefined ? name : { stop: percent }
    if (name === 'slow') return share === undefined ? name : { slow: percent }
    return new Problem('is not report, stop or slow. Only stop and slow may have a share, as in stop=95%')
  })
}
