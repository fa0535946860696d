/** The indices behind a name: an alias with a write index, or a data stream. */
import type { Story } from './story.js'
import type { StoryCluster } from './cluster.js'

/** Both are for new documents with ids of Sluice. Other operations look for a document in one index only. */
export type Target = NonNullable<Story['target']>

export class Behind {
  /** Numbers of the indices that are behind the alias now. The last one is the write index. */
  #numbers = [1]
  #most = 1
  /** Whether the alias no longer leads to an index of before. */
  isSwitched = false

  constructor(
    readonly name: string,
    readonly target: Target,
    readonly cluster: StoryCluster,
  ) {}

  async make(): Promise<void> {
    if (this.target === 'stream') {
      await this.#ask('PUT', `_index_template/${this.name}`, { index_patterns: [this.name], data_stream: {} })
      return await this.#ask('PUT', `_data_stream/${this.name}`)
    }
    await this.#ask('PUT', this.#index(1), { aliases: { [this.name]: { is_write_index: true } } })
  }

  async rollOver(): Promise<void> {
    await this.#ask('POST', `${this.name}/_rollover`)
    this.#numbers.push((this.#numbers.at(-1) ?? 0) + 1)
    this.#most = Math.max(this.#most, ...this.#numbers)
  }

  /** Only another, new index is behind the alias from now on. */
  async switch(): Promise<void> {
    if (this.target === 'stream') return
    this.#most += 1
    const index = this.#index(this.#most)
    await this.#ask('PUT', index)
    const removed = this.#numbers.map(number => ({ remove: { index: this.#index(number), alias: this.name } }))
    const added = { add: { index, alias: this.name, is_write_index: true } }
    await this.#ask('POST', '_aliases', { actions: [...removed, added] })
    this.#numbers = [this.#most]
    this.isSwitched = true
  }

  /** Whether an index was made by this story, behind the name or no longer. */
  has(index: string): boolean {
    return new RegExp(`^(?:\\.ds-)?${this.name}-(?:\\d{4}\\.\\d\\d\\.\\d\\d-)?\\d{6}$`).test(index)
  }

  #index(number: number): string {
    return `${this.name}-${String(number).padStart(6, '0')}`
  }

  async #ask(method: string, path: string, body?: object): Promise<void> {
    const status = await this.cluster.ask(method, path, body === undefined ? undefined : JSON.stringify(body))
    if (status >= 300) throw new Error(`${method} ${path} has status ${status}`)
  }
}
