import { type Action, readAction } from './action-line.js'
import { RequestRefused, illegalArgument } from './answers.js'
import { type Update, readUpdate } from './update-line.js'

/** An action of a bulk body with the place of its document. `from` equals `to` for a delete. */
export interface Line {
  readonly action: Action
  readonly index: string
  readonly from: number
  readonly to: number
  readonly update?: Update
}

/** Splits a bulk body. Throws RequestRefused for what refuses the whole request. */
export function readBulk(body: Buffer, defaultIndex: string | undefined, major: number): Line[] {
  if (body.length === 0)
    throw new RequestRefused({ status: 400, type: 'parse_exception', reason: 'request body is required' })
  const lines: Line[] = []
  const problems: string[] = []
  let at = 0
  let line = 0
  while (at < body.length) {
    const end = endOfLine(body, at)
    line++
    const from = at
    at = end + 1
    if (isBlank(body, from, end)) continue
    const action = readAction(body, from, end, line, major >= 9)
    const index = action.index ?? defaultIndex ?? ''
    if (action.index === undefined && defaultIndex === undefined) problems.push('index is missing')
    const size = action.id === undefined || action.id.length <= 128 ? 0 : Buffer.byteLength(action.id)
    // A deletion of an id that no document can have finds nothing.
    if (size > 512 && action.operation !== 'delete') {
      problems.push(`id [${action.id}] is too long, must be no longer than 512 bytes but was: ${size}`)
    }
    if (action.id === undefined && (action.operation === 'delete' || action.operation === 'update'))
      problems.push('id is missing')
    const problem = conditionProblem(action)
    if (problem !== undefined) problems.push(problem)
    if (action.operation === 'delete') {
      lines.push({ action, index, from: at, to: at })
      continue
    }
    if (at >= body.length) break
    const documentEnd = endOfLine(body, at)
    line++
    const document = { from: at, to: documentEnd }
    at = documentEnd + 1
    const update = action.operation === 'update' ? readUpdate(body, document.from, document.to) : undefined
    if (action.ifSeqNo !== undefined && (update?.docAsUpsert === true || update?.upsert !== undefined))
      problems.push('compare and write operations can not be used with upsert')
    lines.push({ action, index, ...document, ...(update && { update }) })
  }
  if (lines.length === 0) problems.push('no requests added')
  if (problems.length > 0) {
    const list = problems.map((problem, i) => `${i + 1}: ${problem};`).join('')
    throw new RequestRefused({
      status: 400,
      type: 'action_request_validation_exception',
      reason: `Validation Failed: ${list}`,
    })
  }
  return lines
}

/** Returns why an action demands what Elasticsearch cannot compare. Throws RequestRefused for the version of an update. */
function conditionProblem({
  operation,
  id,
  version,
  versionType,
  ifSeqNo,
  ifPrimaryTerm,
  retries,
}: Action): string | undefined {
  const isVersioned = version !== undefined || (versionType !== undefined && versionType !== 'internal')
  if (isVersioned && operation === 'update')
    throw new RequestRefused(
      illegalArgument(
        'Update requests do not support versioning. Please use `if_seq_no` and `if_primary_term` instead',
      ),
    )
  if (isVersioned && operation === 'create')
    return 'create operations only support internal versioning. use index instead'
  if (isVersioned && id === undefined) return 'an id must be provided if version type or value are set'
  if (version !== undefined && !/^external(_gte)?$/.test(versionType ?? ''))
    return 'internal versioning can not be used for optimistic concurrency control. Please use `if_seq_no` and `if_primary_term` instead'
  if (ifSeqNo === undefined) return undefined
  if (operation === 'create') return 'create operations do not support compare and set. use index instead'
  if (ifPrimaryTerm === 0) return 'ifSeqNo is set, but primary term is [0]'
  return retries ? 'compare and write operations can not be retried' : undefined
}

function endOfLine(body: Buffer, from: number): number {
  const end = body.indexOf(0x0a, from)
  if (end < 0) {
    throw new RequestRefused(illegalArgument(String.raw`The bulk request must be terminated by a newline [\n]`))
  }
  return end
}

function isBlank(body: Buffer, from: number, to: number): boolean {
  return to === from || (to - from === 1 && body[from] === 0x0d)
}
