/** Index templates of the lab's cluster: each new index takes the one that fits best. */
type Template = Readonly<Record<string, unknown>>

export class Templates {
  readonly #all = new Map<string, Template>()

  get(name: string): Template | undefined {
    return this.#all.get(name)
  }

  names(): string[] {
    return [...this.#all.keys()]
  }

  delete(name: string): void {
    this.#all.delete(name)
  }

  set(name: string, template: Template): void {
    this.#all.set(name, template)
  }

  /** The template of a new index. */
  of(index: string): Template | undefined {
    return this.#all.get(this.nameOf(index))
  }

  nameOf(index: string): string {
    const fitting = [...this.#all].filter(([, { index_patterns: patterns }]) =>
      [patterns].flat().some(pattern => fits(index, String(pattern))),
    )
    return fitting.toSorted(([, a], [, b]) => Number(b['priority'] ?? 0) - Number(a['priority'] ?? 0))[0]?.[0] ?? ''
  }
}

export function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

/** Returns whether a name matches a pattern with `*`. */
export function fits(name: string, pattern: string): boolean {
  if (pattern === '_all') return true
  const parts = pattern.split('*').map(part => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*')}$`).test(name)
}
