import { RequestRefused, answer, illegalArgument } from './answers.js'
import { type Exchange, parseBody, permit } from './exchange.js'
import { flat } from './index-settings.js'
import { permissions } from './permissions.js'
import { asObject } from './templates.js'

/** `/_index_template/{name}`: create and read. */
export function answerTemplate(exchange: Exchange, method: string, name: string): void {
  if (!permit(exchange, permissions.template)) return
  const { cluster, response, body, request } = exchange
  const known = cluster.templates.get(name)
  if (method === 'GET') {
    if (known === undefined) {
      const reason = `index template matching [${name}] not found`
      throw new RequestRefused({ status: 404, type: 'resource_not_found_exception', reason })
    }
    return answer(response, 200, JSON.stringify({ index_templates: [{ name, index_template: known }] }))
  }
  const isNew = new URL(request.url ?? '/', 'http://lab').searchParams.get('create') === 'true'
  if (isNew && known !== undefined) throw new RequestRefused(illegalArgument(`index template [${name}] already exists`))
  const given = parseBody(body)
  cluster.templates.set(name, described(given))
  answer(response, 200, '{"acknowledged":true}')
}

/** As the cluster shows it: settings in a tree, of text. */
function described({ template, index_patterns: patterns, ...rest }: Record<string, unknown>): Record<string, unknown> {
  const { settings, ...parts } = asObject(template)
  const set = flat(settings)
  return {
    index_patterns: [patterns].flat(),
    template: { ...(Object.keys(set).length === 0 ? {} : { settings: { index: set } }), ...parts },
    composed_of: [],
    ...rest,
  }
}
