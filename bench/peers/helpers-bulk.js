/**
 * The official client's bulk helper, used as its documentation shows.
 *
 *   node helpers-bulk.js FILE URL INDEX strings|objects CONCURRENCY [--proxy URL] [--trim]
 *
 * strings: each line is given to the helper as it is; objects: parsed first, as a program does that looks at its documents.
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

const client = new Client({
  node: url,
  // The default connection takes no proxy.
  ...(values.proxy && { proxy: values.proxy, Connection: HttpConnection }),
})
const objects = form === 'objects'

// Cheaper than the module that the documentation's examples use; node:readline would also break lines at U+2028.
async function* lines() {
  let rest = ''
  for await (const part of createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 20 })) {
    const text = rest + part
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      const line = text.slice(from, end)
      yield objects ? JSON.parse(line) : line
      from = end + 1
    }
    rest = text.slice(from)
  }
  if (rest !== '') yield objects ? JSON.parse(rest) : rest
}

const action = { index: { _index: index } }
const result = await client.helpers.bulk({
  datasource: lines(),
  onDocument: () => action,
  concurrency: Number(concurrency),
  ...(values.trim && { filter_path: 'errors,items.*.status,items.*.error' }),
})
await client.close()
process.stdout.write(`${JSON.stringify(result)}\n`)
if (result.failed > 0) process.exitCode = 1
