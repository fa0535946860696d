// A route that loads uploads into Elasticsearch: POST /uploads/INDEX with NDJSON, CSV or JSON, plain or compressed.
// npm install fastify FOLDER, where FOLDER is your copy of Sluice
import Fastify from 'fastify'
import { connect, ingest, isSluiceError } from 'sluice'

// One connection for all uploads: the route is checked once, when the server starts.
const connection = await connect({
  target: { url: process.env.ELASTICSEARCH_URL, apiKey: process.env.ELASTICSEARCH_API_KEY },
  proxy: { url: process.env.STATIC_PROXY_URL, requireProxy: true },
})
const app = Fastify({ logger: true })
app.addHook('onClose', async () => await connection.close())

// Gives the route the stream of the body. Sluice reads it no faster than the cluster takes it.
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', (_request, body, done) => done(null, body))

app.post('/uploads/:index', async (request, reply) => {
  const { body, headers } = request
  if (body === undefined) return await reply.code(400).send({ message: 'no body' })
  const problems = []
  const receipt = await ingest({
    connection,
    source: body,
    // Sluice recognises NDJSON, JSON and compressed data by their first bytes, but not CSV.
    ...(/^text\/csv\b/i.test(headers['content-type']) ? { format: 'csv' } : {}),
    index: request.params.index,
    deadLetters: false,
    onEvent: event => {
      if (event.type !== 'rejected' || problems.length >= 10) return
      for (const { origin, reason } of event.documents) problems.push({ document: origin.document, reason })
    },
  })
  const { status, read, created, duplicate, rejected } = receipt
  // If an answer was lost, Sluice finds on its next try that the documents are stored: they are duplicates then.
  const stored = created + duplicate
  return await reply
    .code(rejected > 0 ? 422 : 200)
    .send({ status, read, stored, rejected, problems: problems.slice(0, 10) })
})

app.setErrorHandler(async (error, request, reply) => {
  if (!isSluiceError(error)) return await reply.send(error)
  request.log.error({ code: error.code }, error.message)
  // The caller can repair an upload and the name of its index. Everything else is for the operator, who finds the cause in the log.
  const isTheirs = error.code.startsWith('INPUT_') || error.code === 'INDEX_NAME_INVALID'
  return await reply
    .code(isTheirs ? 400 : 503)
    .send({ code: error.code, message: isTheirs ? error.message : undefined })
})

await app.listen({ port: Number(process.env.PORT ?? 3000), host: process.env.HOST ?? '127.0.0.1' })
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => void app.close())
