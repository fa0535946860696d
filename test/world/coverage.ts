/** How much of the model was drawn: ways, acts, options and pairs of acts that follow each other. */
import { acts } from './acts.js'
import type { Played } from './play.js'
import type { Story } from './story.js'
import { troubles } from './trouble.js'
import { ways } from './ways.js'

export class Coverage {
  readonly #ways = new Map<string, number>()
  readonly #acts = new Map<string, number>()
  readonly #pairs = new Map<string, number>()
  readonly #options = new Map<string, number>()
  readonly #troubles = new Map<string, number>()
  readonly #leniencies = new Map<string, number>()

  add(story: Story, { leniencies }: Played): void {
    add(this.#ways, story.way)
    add(this.#options, `op ${story.op}`)
    add(this.#options, `ids ${story.ids}`)
    for (const option of ['tag', 'runId', 'maxRejected'] as const)
      if (story[option] !== undefined) add(this.#options, option)
    for (const rule of leniencies) add(this.#leniencies, rule)
    for (const [at, { act, kind }] of story.acts.entries()) {
      add(this.#acts, act)
      if (kind !== undefined) add(this.#troubles, String(kind))
      const next = story.acts[at + 1]
      if (next !== undefined) add(this.#pairs, `${act}, ${next.act}`)
    }
  }

  tell(): string {
    const all = Object.keys(acts)
    return [
      share('ways', this.#ways, Object.keys(ways)),
      share('acts', this.#acts, all),
      share('troubles', this.#troubles, troubles),
      share(
        'pairs of acts',
        this.#pairs,
        all.flatMap(one => all.map(other => `${one}, ${other}`)),
        true,
      ),
      `options: ${listOf(this.#options)}`,
      `leniencies used in stories: ${listOf(this.#leniencies)}`,
    ].join('\n')
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

function listOf(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
}

function share(what: string, drawn: ReadonlyMap<string, number>, all: readonly string[], isShort = false): string {
  const found = all.filter(one => drawn.has(one))
  const missing = all.filter(one => !drawn.has(one))
  const percent = Math.round((found.length * 100) / all.length)
  const rest = isShort || missing.length === 0 ? '' : `. Not drawn: ${missing.join(', ')}`
  return `${what}: ${found.length} of ${all.length} (${percent}%)${rest}${isShort ? '' : `. ${listOf(drawn)}`}`
}
