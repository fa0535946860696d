import { randomBytes } from 'node:crypto'
import type { FilterBody } from '../filter/edge.js'
import { flat } from './index-settings.js'
import { declaredMapping } from './mapping.js'
import { Security } from './security.js'
import { type AliasProperties, Index, type Pipeline, type PointInTime } from './store.js'
import { asObject, fits, Templates } from './templates.js'
import { type ClusterVersion, majorOf } from './version.js'

/** Holds the state of one search cluster: its indices and who may use them. Both of its ports show the same state. */
export class Cluster {
  /** Id of the deployment in the organisation's policies. */
  readonly deployment: string
  readonly version: ClusterVersion
  readonly major: number
  readonly uuid = randomBytes(16).toString('base64url')
  readonly security: Security
  readonly indices = new Map<string, Index>()
  /** Data streams with their indices. Writes go to the last index. */
  readonly streams = new Map<string, Index[]>()
  readonly templates = new Templates()
  readonly pipelines = new Map<string, Pipeline>()
  /** Points in time by id. */
  readonly points = new Map<string, PointInTime>()
  /** `http.max_content_length` */
  maxContentBytes = 100 * 1024 * 1024
  /** How the edge words the IP filter's refusal. */
  filterBody: FilterBody = 'long'

  constructor(deployment: string, version: ClusterVersion, security = new Security()) {
    this.deployment = deployment
    this.version = version
    this.major = majorOf(version)
    this.security = security
  }

  /** Makes an index as its template says. */
  create(name: string, settings: Record<string, unknown> = {}, template = this.templates.of(name)): Index {
    const of = asObject(template?.['template'])
    const index = new Index(name, declaredMapping(of['mappings']), { ...flat(of['settings']), ...settings })
    for (const [alias, properties] of Object.entries(asObject(of['aliases'])))
      index.aliases.set(alias, asObject(properties))
    this.indices.set(name, index)
    return index
  }

  /** Makes what the first document of a name makes. */
  createFor(name: string): Index {
    const isStream = this.templates.of(name)?.['data_stream'] !== undefined
    return isStream ? this.createStream(name) : this.create(name)
  }

  createStream(name: string, timeSeries = false): Index {
    this.streams.set(name, [])
    return this.rollOver(name, timeSeries ? { mode: 'time_series' } : {})
  }

  /** Adds a new index to a data stream. Writes go to this index from now on. */
  rollOver(stream: string, settings = this.streams.get(stream)?.at(-1)?.settings): Index {
    const behind = this.streams.get(stream)
    if (behind === undefined) throw new Error(`no data stream ${stream}`)
    const generation = String(Number(behind.at(-1)?.name.slice(-6) ?? 0) + 1).padStart(6, '0')
    const name = `.ds-${stream}-2026.11.21-${generation}`
    const index = this.create(name, settings, this.templates.of(stream))
    behind.push(index)
    return index
  }

  /** Deletes an index, also behind a data stream. */
  delete(index: Index): void {
    this.indices.delete(index.name)
    for (const [stream, behind] of this.streams)
      if (behind.includes(index))
        this.streams.set(
          stream,
          behind.filter(one => one !== index),
        )
  }

  /** The indices behind an alias, and its settings for each. */
  behind(alias: string): { readonly index: Index; readonly properties: AliasProperties }[] {
    return [...this.indices.values()].flatMap(index => {
      const properties = index.aliases.get(alias)
      return properties === undefined ? [] : [{ index, properties }]
    })
  }

  /** The index that a name means for reading one document: its own, or that of an alias with one index. */
  named(name: string): Index | undefined {
    const own = this.indices.get(name)
    if (own !== undefined) return own
    const behind = this.behind(name)
    return behind.length === 1 ? behind[0]?.index : undefined
  }

  /**
   * Returns the index that writes to a name go to: the index itself, or the last one of a stream. `no-write-index`: an
   * alias without a write index.
   */
  writable(name: string): Index | 'no-write-index' | undefined {
    const own = this.indices.get(name) ?? this.streams.get(name)?.at(-1)
    if (own !== undefined) return own
    const behind = this.behind(name)
    if (behind.length === 0) return undefined
    const chosen =
      behind.find(({ properties }) => properties['is_write_index'] === true) ??
      (behind.length === 1 && behind[0]?.properties['is_write_index'] !== false ? behind[0] : undefined)
    return chosen?.index ?? 'no-write-index'
  }

  /**
   * Returns the indices that match an expression: names of indices and aliases, and patterns of both, separated by
   * commas. `_all` matches all of them.
   */
  matching(expression: string): { readonly found: Index[]; readonly missing: string | undefined } {
    const found = new Set<Index>()
    let missing: string | undefined
    for (const part of expression.split(',')) {
      const isPattern = part.includes('*') || part === '_all'
      const isMeant = (name: string) => (isPattern ? fits(name, part) : name === part)
      const matches =
        this.streams.get(part) ??
        [...this.indices.values()].filter(({ name, aliases }) => isMeant(name) || [...aliases.keys()].some(isMeant))
      if (matches.length === 0 && !isPattern) missing ??= part
      for (const index of matches) found.add(index)
    }
    return { found: [...found], missing }
  }
}
