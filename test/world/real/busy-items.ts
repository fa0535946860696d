/** Takes documents out of a bulk request, and puts the answer of a busy cluster for each of them into its answer. */
import type { IncomingMessage } from 'node:http'
import { gunzipSync, gzipSync } from 'node:zlib'

interface Split {
  /** The request without them, packed as it came. Empty: nothing is left. */
  readonly rest: Buffer
  /** Makes the answer for all of them. */
  join(answer: Buffer): Buffer
}

interface BulkAnswer {
  readonly errors?: boolean
  readonly items?: readonly object[]
}

const error = { type: 'es_rejected_execution_exception', reason: 'queue is full' }

/** `isBusy` is asked for each document. */
export function splitBusy({ headers }: IncomingMessage, body: Buffer, isBusy: () => boolean): Split {
  const isPacked = headers['content-encoding'] === 'gzip'
  const lines = (isPacked ? gunzipSync(body) : body).toString().split('\n')
  const kept: string[] = []
  const items: (string | undefined)[] = []
  for (let at = 0; at < lines.length - 1;) {
    const [operation = ''] = Object.keys(JSON.parse(lines[at] ?? '') as object)
    const count = operation === 'delete' ? 1 : 2
    const isTaken = isBusy()
    items.push(isTaken ? operation : undefined)
    if (!isTaken) kept.push(...lines.slice(at, at + count))
    at += count
  }
  const text = Buffer.from(kept.map(line => `${line}\n`).join(''))
  return {
    rest: isPacked && text.length > 0 ? gzipSync(text) : text,
    join: answer => (items.every(item => item === undefined) ? answer : joined(answer, items)),
  }
}

function joined(answer: Buffer, taken: readonly (string | undefined)[]): Buffer {
  const said = JSON.parse(answer.toString()) as BulkAnswer
  const left = [...(said.items ?? [])]
  // A request that was refused has no items.
  if (left.length < taken.filter(item => item === undefined).length) return answer
  const items = taken.map(item => (item === undefined ? left.shift() : { [item]: { status: 429, error } }))
  return Buffer.from(JSON.stringify({ ...said, errors: true, items }))
}
