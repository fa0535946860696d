/** How much of the model was drawn: ways, acts, options and pairs of acts that follow each other. */
import { acts } from './acts.js'
import type { Played } from './play.js'
import type { Story } from './story.js'
import { troubles } from './trouble.js'
import { ways } from './ways.js'

type Kind = 'way' | 'act' | 'pair' | 'option' | 'trouble' | 'leniency'

export class Coverage {
  /** How often each was drawn, by its kind and name. */
  readonly counts: Record<string, number> = {}

  add(story: Story, { leniencies }: Played): void {
    this.#add('way', story.way)
    this.#add('option', `op ${story.op}`)
    this.#add('option', `ids ${story.ids}`)
    for (const option of ['tag', 'edit', 'transforms', 'skips', 'runId', 'maxRejected', 'isByField', 'target'] as const)
      if (story[option] !== undefined) this.#add('option', option)
    for (const rule of leniencies) this.#add('leniency', rule)
    for (const [at, { act, kind }] of story.acts.entries()) {
      this.#add('act', act)
      if (kind !== undefined) this.#add('trouble', String(kind))
      const next = story.acts[at + 1]
      if (next !== undefined) this.#add('pair', `${act}, ${next.act}`)
    }
  }

  merge(counts: Readonly<Record<string, number>>): void {
    for (const [key, count] of Object.entries(counts)) this.counts[key] = (this.counts[key] ?? 0) + count
  }

  tell(): string {
    const all = Object.keys(acts)
    const pairs = all.flatMap(one => all.map(other => `${one}, ${other}`))
    return [
      this.#share('ways', 'way', Object.keys(ways)),
      this.#share('acts', 'act', all),
      this.#share('troubles', 'trouble', troubles),
      this.#share('pairs of acts', 'pair', pairs, true),
      `options: ${listOf(this.#drawn('option'))}`,
      `leniencies used in stories: ${listOf(this.#drawn('leniency'))}`,
    ].join('\n')
  }

  #add(kind: Kind, name: string): void {
    this.merge({ [`${kind} ${name}`]: 1 })
  }

  #drawn(kind: Kind): ReadonlyMap<string, number> {
    const own = Object.entries(this.counts).filter(([key]) => key.startsWith(`${kind} `))
    return new Map(own.map(([key, count]) => [key.slice(kind.length + 1), count]))
  }

  #share(what: string, kind: Kind, all: readonly string[], isShort = false): string {
    const drawn = this.#drawn(kind)
    const found = all.filter(one => drawn.has(one))
    const missing = all.filter(one => !drawn.has(one))
    const percent = Math.round((found.length * 100) / all.length)
    const rest = isShort || missing.length === 0 ? '' : `. Not drawn: ${missing.join(', ')}`
    return `${what}: ${found.length} of ${all.length} (${percent}%)${rest}${isShort ? '' : `. ${listOf(drawn)}`}`
  }
}

function listOf(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
}
