/** Ingest pipelines, as far as the lab plays them: processors that drop documents, or change their index or id. */
import { RequestRefused, answer, illegalArgument } from './answers.js'
import { type Exchange, parseBody, permit } from './exchange.js'
import { permissions } from './permissions.js'
import { known } from './query/query.js'
import { beyondLab } from './query/values.js'
import type { Pipeline, Processed } from './store.js'
import { asObject } from './templates.js'

/** `/_ingest/pipeline/{id}`: create and delete. */
export function answerPipeline(exchange: Exchange, method: string, id: string): void {
  if (!permit(exchange, permissions.pipeline)) return
  const { cluster, response, body, path } = exchange
  if (method === 'PUT') cluster.pipelines.set(id, compiled(parseBody(body)))
  else if (method !== 'DELETE') return beyondLab(`the API [${method} ${path}]`)
  else if (!cluster.pipelines.delete(id)) {
    const reason = `pipeline [${id}] is missing`
    throw new RequestRefused({ status: 404, type: 'resource_not_found_exception', reason })
  }
  answer(response, 200, '{"acknowledged":true}')
}

type Processor = (document: Readonly<Record<string, unknown>>) => Processed | undefined

function compiled(given: Record<string, unknown>): Pipeline {
  known('a pipeline', given, ['description', 'processors', 'version', '_meta'])
  const processors = [given['processors'] ?? []].flat().map(processor => {
    const [[name, options] = ['', {}]] = Object.entries(asObject(processor))
    const isMeant = conditionOf(asObject(options)['if'])
    const processed = processedBy(name, asObject(options))
    return (document => (isMeant(document) ? processed : undefined)) satisfies Processor
  })
  return document => Object.assign({}, ...processors.map(process => process(document)))
}

function processedBy(name: string, { destination, field, value }: Record<string, unknown>): Processed {
  if (name === 'drop') return { isDropped: true }
  if (name === 'reroute') return { index: String(destination) }
  if (name !== 'set') throw new RequestRefused(illegalArgument(`No processor type exists with name [${name}]`))
  if (field === '_index') return { index: String(value) }
  return field === '_id' ? { id: String(value) } : beyondLab(`[set] of the field [${String(field)}]`)
}

const forms = /^ctx\.(\w+)(?: % (\d+))? == (\d+|'[^']*')$/

function conditionOf(text: unknown): (document: Readonly<Record<string, unknown>>) => boolean {
  if (text === undefined) return () => true
  if (typeof text !== 'string') throw new RequestRefused(illegalArgument('[if] must be a string'))
  const [, field = '', divisor, value = ''] = forms.exec(text) ?? beyondLab(`the condition [${text}]`)
  const wanted = value.startsWith("'") ? value.slice(1, -1) : Number(value)
  return document => (divisor === undefined ? document[field] : Number(document[field]) % Number(divisor)) === wanted
}
