import { RequestRefused, answer, illegalArgument, noSuchIndex } from './answers.js'
import { type Exchange, parseBody, permit } from './exchange.js'
import { permissions } from './permissions.js'
import { beyondLab } from './query/values.js'
import type { Index } from './store.js'

/** `/_data_stream/{name}`: create, delete. */
export function answerStream(exchange: Exchange, method: string, name: string): void {
  const { cluster, response } = exchange
  if (method !== 'PUT' && method !== 'DELETE') return beyondLab(`the API [${method} /_data_stream]`)
  if (!permit(exchange, method === 'PUT' ? permissions.create : permissions.delete, name)) return
  if (method === 'PUT') {
    const template = cluster.templates.of(name)
    if (template?.['data_stream'] === undefined) throw new RequestRefused(illegalArgument(noTemplate(cluster, name)))
    cluster.createStream(name)
  } else {
    const behind = cluster.streams.get(name)
    if (behind === undefined) throw new RequestRefused(noSuchIndex(name))
    for (const index of behind) cluster.indices.delete(index.name)
    cluster.streams.delete(name)
  }
  answer(response, 200, '{"acknowledged":true}')
}

/** `POST /{alias or data stream}/_rollover`, without conditions. */
export function answerRollover(exchange: Exchange, name: string): void {
  const { cluster, response, body } = exchange
  if (Object.keys(parseBody(body)).length > 0) return beyondLab('a rollover with conditions')
  if (!permit(exchange, permissions.rollover, name)) return
  const old = cluster.writable(name)
  if (old === undefined || old === 'no-write-index' || old.name === name)
    throw new RequestRefused(illegalArgument(`rollover target [${name}] does not exist`))
  const fresh = cluster.streams.has(name) ? cluster.rollOver(name) : rollOverAlias(exchange, name, old)
  const names = { old_index: old.name, new_index: fresh.name }
  const done = { acknowledged: true, shards_acknowledged: true, rolled_over: true, dry_run: false, lazy: false }
  answer(response, 200, JSON.stringify({ ...done, ...names, conditions: {} }))
}

/** The old index stays behind an alias that names its write index. Without one, the alias moves. */
function rollOverAlias({ cluster }: Exchange, alias: string, old: Index): Index {
  const [, stem, number] = /^(.*)-(\d+)$/.exec(old.name) ?? []
  if (stem === undefined || number === undefined) {
    const reason = String.raw`index name [${old.name}] does not match pattern '^.*-\d+$'`
    throw new RequestRefused(illegalArgument(reason))
  }
  const fresh = cluster.create(`${stem}-${String(Number(number) + 1).padStart(6, '0')}`)
  const properties = old.aliases.get(alias) ?? {}
  if (properties['is_write_index'] === true) old.aliases.set(alias, { ...properties, is_write_index: false })
  else old.aliases.delete(alias)
  fresh.aliases.set(alias, properties)
  return fresh
}

function noTemplate({ templates }: Exchange['cluster'], name: string): string {
  if (templates.of(name) === undefined) return `no matching index template found for data stream [${name}]`
  return `matching index template [${templates.nameOf(name)}] for data stream [${name}] has no data stream template`
}
