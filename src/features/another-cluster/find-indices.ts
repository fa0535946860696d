/** Finds the indices behind names of inputs, and refuses those whose documents cannot be had. */
import type { IndexDescription } from '../../base/flow.js'
import { fail } from '../../base/failure/failure.js'
import { isObject, type JsonObject } from '../../base/json/parse-json.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'

export interface FoundIndex {
  readonly index: string
  /** An index that is deleted and made anew has another one. */
  readonly uuid: string
  readonly shards: number
  /** `{"query": …}`. Undefined: all documents. */
  readonly query: JsonObject | undefined
  /** The data stream that hits shall name instead of the index behind it. */
  readonly namedAs: string | undefined
  readonly describes: IndexDescription
}

interface Asked {
  readonly names: readonly string[]
  readonly query: JsonObject | undefined
}

/** Returns the indices behind the names, each once, and in the order of their names. Throws SluiceError INPUT_NOT_FOUND, INPUT_UNREADABLE. */
export async function findIndices(cluster: Cluster, { names, query }: Asked): Promise<FoundIndex[]> {
  const found = new Map<string, { readonly about: unknown; readonly filters: (JsonObject | undefined)[] }>()
  for (const name of names) {
    const path = `/${encodeURIComponent(name)}`
    const { status, json } = await cluster.call({
      method: 'GET',
      path,
      query: { expand_wildcards: 'open,hidden' },
      expects: ['index_not_found_exception'],
    })
    const indices = status === 404 ? [] : Object.entries(json).filter(([index, about]) => isMeant(name, index, about))
    if (indices.length === 0) throw fail('INPUT_NOT_FOUND', { input: `elasticsearch:${name}` })
    for (const [index, about] of indices) {
      const { filters } = found.get(index) ?? { filters: [] }
      found.set(index, { about, filters: [...filters, filterOf(name, about)] })
    }
  }
  return [...found]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([index, { about, filters }]) => described(index, about, within(query, filters)))
}

/** Indices whose names begin with a dot belong to the cluster. As for Elasticsearch, wildcards mean only those behind a data stream. */
function isMeant(name: string, index: string, about: unknown): boolean {
  if (!name.includes('*') || name.startsWith('.') || !index.startsWith('.')) return true
  const stream = streamOf(about)
  return stream !== undefined && !stream.startsWith('.')
}

function streamOf(about: unknown): string | undefined {
  const stream = isObject(about) ? about['data_stream'] : undefined
  return typeof stream === 'string' ? stream : undefined
}

/** An alias may show only a part of an index. */
function filterOf(name: string, about: unknown): JsonObject | undefined {
  const aliases = isObject(about) && isObject(about['aliases']) ? about['aliases'] : {}
  const alias = aliases[name]
  return isObject(alias) && isObject(alias['filter']) ? alias['filter'] : undefined
}

/** A document is read if one of the names shows it. */
function within(query: JsonObject | undefined, filters: readonly (JsonObject | undefined)[]): JsonObject | undefined {
  const shown = filters.filter(one => one !== undefined)
  if (shown.length < filters.length) return query
  const asked = query?.['query']
  return { ...query, query: { bool: { filter: [...(asked === undefined ? [] : [asked]), either(shown)] } } }
}

function either(filters: readonly JsonObject[]): unknown {
  return filters.length === 1 ? filters[0] : { bool: { should: filters } }
}

function described(index: string, about: unknown, query: JsonObject | undefined): FoundIndex {
  const parts = isObject(about) ? about : {}
  const object = (value: unknown): JsonObject => (isObject(value) ? value : {})
  const settings = object(object(parts['settings'])['index'])
  const describes = {
    name: streamOf(about) ?? index,
    isStream: streamOf(about) !== undefined,
    mappings: object(parts['mappings']),
    settings,
    aliases: object(parts['aliases']),
  }
  refuseWithoutSource(index, describes)
  const shards = Number(settings['number_of_shards'] ?? 1)
  return { index, uuid: String(settings['uuid']), shards, query, namedAs: streamOf(about), describes }
}

type Described = Pick<IndexDescription, 'mappings' | 'settings'>

/** The documents that were sent cannot be had from such an index. */
function refuseWithoutSource(index: string, description: Described): void {
  const { _source: source } = description.mappings
  const refuse = (said: string, what: string) =>
    fail('INPUT_UNREADABLE', { input: `elasticsearch:${index}`, problem: `its ${said}, so ${what}` })
  if (isObject(source) && source['enabled'] === false)
    throw refuse('mapping says "_source": {"enabled": false}', 'it holds no documents that can be read')
  if (sourceMode(description) === 'disabled')
    throw refuse('setting index.mapping.source.mode is disabled', 'it holds no documents that can be read')
  const isCut = (part: string) =>
    isObject(source) && Array.isArray(source[part]) && (source[part] as unknown[]).length > 0
  const cut = ['includes', 'excludes'].find(isCut)
  if (cut !== undefined) throw refuse(`mapping says "_source": {"${cut}": …}`, 'its documents lack fields')
}

/** Returns whether the cluster builds each document anew from its fields. Indices of logs and metrics do so if nothing else is set. */
export function isSynthetic({ describes }: Pick<FoundIndex, 'describes'>): boolean {
  const mode = sourceMode(describes)
  if (mode !== undefined) return mode === 'synthetic'
  return ['logsdb', 'time_series'].includes(String(describes.settings['mode']))
}

function sourceMode({ mappings, settings }: Described): string | undefined {
  const mapping = isObject(settings['mapping']) ? settings['mapping'] : {}
  const set = isObject(mapping['source']) ? mapping['source']['mode'] : undefined
  const mapped = isObject(mappings['_source']) ? mappings['_source']['mode'] : undefined
  const mode = set ?? mapped
  return typeof mode === 'string' ? mode.toLowerCase() : undefined
}
