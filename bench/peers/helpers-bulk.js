/**
 * The official client's bulk helper, used as its documentation shows.
 *
 *   node helpers-bulk.js FILE URL INDEX strings|objects|edit|update CONCURRENCY [--proxy URL] [--trim]
 *
 * strings: each line is given to the helper as it is; objects: parsed first, as a program does that looks at its documents.
 * edit: two fields of each document are deleted and one is set; update: each document changes the one with its id.
 * --trim asks for a status per item only, the smallest answer with which the helper works.
 */
import { createReadStream } from 'node:fs'
import { parseArgs } from 'node:util'
import { Client, HttpConnection } from '@elastic/elasticsearch'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { proxy: { type: 'string' }, trim: { type: 'boolean' } },
})
const [file, url, index, form, concurrency] = positionals

/**
 * The client's connection of node:http takes an answer that is complete before the request has emitted 'finish' for a broken one, and
 * sends the request again. The null sink answers that fast, so that here the answer waits for 'finish'.
 */
class PatientConnection extends HttpConnection {
  constructor(options) {
    super(options)
    const { makeRequest } = this
    this.makeRequest = words => {
      const request = makeRequest(words)
      const emit = request.emit.bind(request)
      request.emit = (name, ...rest) => {
        if (name !== 'response' || request.writableFinished) return emit(name, ...rest)
        request.once('finish', () => emit(name, ...rest))
        return true
      }
      return request
    }
  }
}

const client = new Client({
  node: url,
  // The default connection takes no proxy.
  ...(values.proxy && { proxy: values.proxy, Connection: PatientConnection }),
})
const read = { strings: line => line, objects: JSON.parse, edit: line => edited(JSON.parse(line)), update: JSON.parse }[
  form
]

function edited(document) {
  delete document.host
  delete document.text
  document.from = 'bench'
  return document
}

// Cheaper than the module that the documentation's examples use; node:readline would also break lines at U+2028.
async function* lines() {
  let rest = ''
  for await (const part of createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 20 })) {
    const text = rest + part
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      const line = text.slice(from, end)
      yield read(line)
      from = end + 1
    }
    rest = text.slice(from)
  }
  if (rest !== '') yield read(rest)
}

const action = { index: { _index: index } }
const result = await client.helpers.bulk({
  datasource: lines(),
  onDocument: form === 'update' ? ({ id }) => [{ update: { _index: index, _id: String(id) } }, {}] : () => action,
  concurrency: Number(concurrency),
  ...(values.trim && { filter_path: 'errors,items.*.status,items.*.error' }),
})
await client.close()
process.stdout.write(`${JSON.stringify(result)}\n`)
if (result.failed > 0) process.exitCode = 1
