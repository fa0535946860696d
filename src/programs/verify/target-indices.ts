/** Finds the indices of the target that hold documents of a source. */
import { nameOf, patternIn } from '../../base/text/index-pattern.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'

/** Looks up each name once. */
export class TargetIndices {
  /** The indices that exist, with the indices of the source whose documents they take. */
  readonly origins = new Map<string, Set<string>>()
  readonly #cluster: Cluster
  readonly #into: string
  /** Names of indices whose own pipelines treat documents. */
  readonly #piped = new Set<string>()
  readonly #missing = new Set<string>()
  readonly #known = new Map<string, Promise<readonly string[]>>()

  /** `into`: an index, an alias, a data stream, or a pattern such as `{_index}`. */
  constructor(cluster: Cluster, into: string) {
    this.#cluster = cluster
    this.#into = into
  }

  /** `named`: the index that a document names. `origin`: the one that was read. */
  async holders(named: string, origin: string): Promise<readonly string[]> {
    const name = this.#nameFor(named)
    let known = this.#known.get(name)
    if (known === undefined) this.#known.set(name, (known = this.#look(name)))
    const holders = await known
    for (const holder of holders) {
      const origins = this.origins.get(holder)
      if (origins === undefined) this.origins.set(holder, new Set([origin]))
      else origins.add(origin)
    }
    return holders
  }

  /** Returns notes for the person who reads the result. */
  notes(): string[] {
    return [
      ...Array.from(this.#missing, name => `the index ${name} no longer exists`),
      ...Array.from(this.#piped, name => `${name} has an ingest pipeline of its own, which may have changed documents`),
    ]
  }

  #nameFor(named: string): string {
    const pattern = patternIn(this.#into)
    if (pattern === undefined) return this.#into
    const name = nameOf(
      pattern,
      pattern.fields.map(() => named),
    )
    return typeof name === 'string' ? name : this.#into
  }

  async #look(name: string): Promise<readonly string[]> {
    const seen = await this.#cluster.indices.see(name)
    if (seen.kind === 'missing') this.#missing.add(name)
    if (seen.kind === 'missing') return []
    if (seen.kind !== 'unreadable' && seen.isPiped === true) this.#piped.add(name)
    return seen.kind === 'name' ? seen.behind : [name]
  }
}
