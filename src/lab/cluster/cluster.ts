import { randomBytes } from 'node:crypto'
import type { FilterBody } from '../filter/edge.js'
import type { Mapping } from './mapping.js'
import { Security } from './security.js'
import { Index } from './store.js'
import { type ClusterVersion, majorOf } from './version.js'

/** The state of one search cluster: its indices and who may use them. Both of its ports show the same. */
export class Cluster {
  /** As the organisation's policies know it. */
  readonly deployment: string
  readonly version: ClusterVersion
  readonly major: number
  readonly uuid = randomBytes(16).toString('base64url')
  readonly security: Security
  readonly indices = new Map<string, Index>()
  /** Data streams: the indices behind each, the one that is written to last. */
  readonly streams = new Map<string, Index[]>()
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

  create(name: string, mapping?: Mapping, settings?: Record<string, unknown>): Index {
    const index = new Index(name, mapping, settings)
    this.indices.set(name, index)
    return index
  }

  createStream(name: string, timeSeries = false): Index {
    this.streams.set(name, [])
    return this.rollOver(name, timeSeries ? { mode: 'time_series' } : {})
  }

  /** A new index behind a data stream, which is the one that is written to from now on. */
  rollOver(stream: string, settings = this.streams.get(stream)?.at(-1)?.settings): Index {
    const behind = this.streams.get(stream)
    if (behind === undefined) throw new Error(`no data stream ${stream}`)
    const generation = String(behind.length + 1).padStart(6, '0')
    const index = this.create(`.ds-${stream}-2026.11.21-${generation}`, undefined, settings)
    behind.push(index)
    return index
  }

  /** The index that a write to this name goes to. */
  writeIndex(name: string): Index | undefined {
    return this.indices.get(name) ?? this.streams.get(name)?.at(-1)
  }

  /** The indices that an expression names: names and patterns, separated by commas; all of them for `_all`. */
  matching(expression: string): { readonly found: Index[]; readonly missing: string | undefined } {
    const found = new Set<Index>()
    for (const part of expression.split(',')) {
      const isPattern = part.includes('*') || part === '_all'
      const matches =
        this.streams.get(part) ??
        [...this.indices.values()].filter(({ name }) => (isPattern ? fits(name, part) : name === part))
      if (matches.length === 0 && !isPattern) return { found: [], missing: part }
      for (const index of matches) found.add(index)
    }
    return { found: [...found], missing: undefined }
  }
}

function fits(name: string, pattern: string): boolean {
  if (pattern === '_all') return true
  const parts = pattern.split('*').map(part => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*')}$`).test(name)
}
