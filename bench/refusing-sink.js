// A cluster that accepts every request and refuses each of its documents, as Elasticsearch refuses a field of the wrong type.
// Prints the port it listens on (127.0.0.1), and serves until it is killed.
import { createServer } from 'node:http'

const about = {
  name: 'sink',
  cluster_name: 'sink',
  cluster_uuid: 'AAAAAAAAAAAAAAAAAAAAAA',
  version: { number: '9.4.3', build_flavor: 'default' },
  tagline: 'You Know, for Search',
}
const reason =
  "[1:17] failed to parse field [status] of type [long] in document with id 'aaaaaaaaaaaaaaaa-1234567'. Preview of field's value: 'not a number'"
const item = JSON.stringify({ create: { status: 400, error: { type: 'document_parsing_exception', reason } } })

const server = createServer((request, response) => {
  let lines = 0
  request.on('data', chunk => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1
  })
  request.on('end', () => {
    response.setHeader('x-elastic-product', 'Elasticsearch')
    response.setHeader('content-type', 'application/json')
    if (request.url.includes('/_bulk')) {
      const items = Array.from({ length: lines / 2 }, () => item)
      response.end(`{"errors":true,"items":[${items.join()}]}`)
    } else if (request.url === '/') response.end(JSON.stringify(about))
    else {
      response.statusCode = 404
      response.end('{"error":{"type":"index_not_found_exception","reason":"no such index"},"status":404}')
    }
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`))
