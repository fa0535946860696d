import { RequestRefused, answer, illegalArgument } from './answers.js'
import { type Exchange, parseBody, permit } from './exchange.js'
import { flat } from './index-settings.js'
import { checkMapping } from './known-mapping.js'
import { permissions } from './permissions.js'
import { known } from './query/query.js'
import { beyondLab } from './query/values.js'
import { asObject, fits } from './templates.js'

const parts = [
  'index_patterns',
  'template',
  'priority',
  'version',
  '_meta',
  'data_stream',
  'composed_of',
  'allow_auto_create',
]

/** `/_index_template/{name}`: create, read and delete. Reading takes patterns. */
export function answerTemplate(exchange: Exchange, method: string, name = '*'): void {
  if (!permit(exchange, permissions.template)) return
  const { cluster, response, body, request } = exchange
  const { templates } = cluster
  const found = templates.names().filter(one => fits(one, name))
  if (method === 'GET' || method === 'DELETE') {
    if (found.length === 0 && !(method === 'GET' && name.includes('*'))) throw missing(name)
    if (method === 'DELETE') {
      for (const one of found) templates.delete(one)
      return answer(response, 200, '{"acknowledged":true}')
    }
    const listed = found.map(one => ({ name: one, index_template: templates.get(one) }))
    return answer(response, 200, JSON.stringify({ index_templates: listed }))
  }
  if (method !== 'PUT' && method !== 'POST') return beyondLab(`the API [${method} ${exchange.path}]`)
  const isNew = new URL(request.url ?? '/', 'http://lab').searchParams.get('create') === 'true'
  if (isNew && templates.get(name) !== undefined)
    throw new RequestRefused(illegalArgument(`index template [${name}] already exists`))
  templates.set(name, described(checked(parseBody(body))))
  answer(response, 200, '{"acknowledged":true}')
}

function missing(name: string): RequestRefused {
  const reason = `index template matching [${name}] not found`
  return new RequestRefused({ status: 404, type: 'resource_not_found_exception', reason })
}

function checked(given: Record<string, unknown>): Record<string, unknown> {
  known('an index template', given, parts)
  if ([given['composed_of'] ?? []].flat().length > 0) beyondLab('component templates')
  checkMapping(asObject(given['template'])['mappings'])
  if (given['index_patterns'] !== undefined) return given
  throw new RequestRefused({ status: 400, type: 'x_content_parse_exception', reason: 'Required [index_patterns]' })
}

/** As the cluster shows it: settings in a tree, of text. */
function described({ template, index_patterns: patterns, ...rest }: Record<string, unknown>): Record<string, unknown> {
  const { settings, ...others } = asObject(template)
  const set = flat(settings)
  return {
    index_patterns: [patterns].flat(),
    template: { ...(Object.keys(set).length === 0 ? {} : { settings: { index: set } }), ...others },
    composed_of: [],
    ...rest,
  }
}
