/**
 * The official client's bulk helper, as its documentation shows, with retries, and a file for what is refused.
 *
 *   node helpers-bulk.js FILE INDEX FLUSH_BYTES REFUSED_FILE own|field
 *
 * own: the cluster makes the ids; field: they are taken from the documents. The way is in the environment.
 */
import { appendFileSync, createReadStream, readFileSync } from 'node:fs'
import { Client, HttpConnection } from '@elastic/elasticsearch'

const [file, index, flushBytes, refusedFile, ids] = process.argv.slice(2)
const { ELASTICSEARCH_URL, ELASTICSEARCH_API_KEY, CLUSTER_CA, PROXY } = process.env

const client = new Client({
  node: ELASTICSEARCH_URL,
  auth: { apiKey: ELASTICSEARCH_API_KEY },
  tls: { ca: readFileSync(CLUSTER_CA) },
  proxy: PROXY,
  // The default connection takes no proxy.
  Connection: HttpConnection,
  maxRetries: 5,
  retryOnTimeout: true,
})

async function* lines() {
  let rest = ''
  for await (const part of createReadStream(file, { encoding: 'utf8' })) {
    const found = (rest + part).split('\n')
    rest = found.pop()
    yield* found.map(line => line.replace(/\r$/, '')).filter(line => line !== '')
  }
  if (rest !== '') yield rest
}

const result = await client.helpers.bulk({
  datasource: lines(),
  onDocument: line => ({ index: { _index: index, ...(ids === 'field' && { _id: JSON.parse(line).id }) } }),
  onDrop: ({ document, error, status }) =>
    appendFileSync(refusedFile, `${JSON.stringify({ document, error, status })}\n`),
  flushBytes: Number(flushBytes),
  retries: 5,
  wait: 1000,
})
await client.close()
process.stdout.write(`${JSON.stringify(result)}\n`)
if (result.failed > 0) process.exitCode = 1
