/** Ingest pipelines, as far as the lab plays them: processors that drop documents. */
import { RequestRefused, answer, illegalArgument } from './answers.js'
import { type Exchange, parseBody, permit } from './exchange.js'
import { permissions } from './permissions.js'
import { known } from './query/query.js'
import { beyondLab } from './query/values.js'
import type { Pipeline } from './store.js'
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

function compiled(given: Record<string, unknown>): Pipeline {
  known('a pipeline', given, ['description', 'processors', 'version', '_meta'])
  const drops = [given['processors'] ?? []].flat().map(processor => {
    const [[name, options] = ['', {}]] = Object.entries(asObject(processor))
    if (name !== 'drop') throw new RequestRefused(illegalArgument(`No processor type exists with name [${name}]`))
    return conditionOf(asObject(options)['if'])
  })
  return document => drops.some(isDropped => isDropped(document))
}

const forms = /^ctx\.(\w+)(?: % (\d+))? == (\d+|'[^']*')$/

function conditionOf(text: unknown): Pipeline {
  if (text === undefined) return () => true
  if (typeof text !== 'string') throw new RequestRefused(illegalArgument('[if] must be a string'))
  const [, field = '', divisor, value = ''] = forms.exec(text) ?? beyondLab(`the condition [${text}]`)
  const wanted = value.startsWith("'") ? value.slice(1, -1) : Number(value)
  return document => (divisor === undefined ? document[field] : Number(document[field]) % Number(divisor)) === wanted
}
