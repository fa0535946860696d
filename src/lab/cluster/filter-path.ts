/** The `filter_path` of a request: what stays of an answer. */
export interface FilterPath {
  /**
   * Returns the value without the filtered parts and without containers that become empty. Undefined if nothing is
   * left.
   */
  apply(value: unknown): unknown
  /** Whether a leaf under these names stays. */
  keeps(...names: readonly string[]): boolean
}

type Pattern = readonly RegExp[]

/** Compiles comma-separated patterns: `*` within a name, `**` for any names, `-` in front to exclude. */
export function compileFilterPath(text: string): FilterPath {
  const patterns = text
    .split(',')
    .map(part => part.trim())
    .filter(Boolean)
  const includes = patterns.filter(pattern => !pattern.startsWith('-')).map(compile)
  const excludes = patterns.filter(pattern => pattern.startsWith('-')).map(pattern => compile(pattern.slice(1)))
  const keeps = (names: readonly string[]): boolean =>
    (includes.length === 0 || includes.some(pattern => covers(pattern, names))) &&
    !excludes.some(pattern => covers(pattern, names))

  function prune(value: unknown, names: readonly string[]): unknown {
    if (Array.isArray(value)) {
      const kept = value.map(element => prune(element, names)).filter(element => element !== undefined)
      return kept.length > 0 ? kept : undefined
    }
    if (typeof value !== 'object' || value === null) return keeps(names) ? value : undefined
    const kept: Record<string, unknown> = {}
    for (const [name, member] of Object.entries(value)) {
      const pruned = prune(member, [...names, name])
      if (pruned !== undefined) kept[name] = pruned
    }
    return Object.keys(kept).length > 0 ? kept : undefined
  }
  return { apply: value => prune(value, []), keeps: (...names) => keeps(names) }
}

function compile(pattern: string): Pattern {
  return pattern.split('.').map(name => {
    if (name === '**') return anyNames
    return new RegExp(`^${name.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('*', '.*')}$`)
  })
}

const anyNames = /^\*\*$/

/** Whether the names begin with a match of the whole pattern. Everything below a match stays too. */
function covers(pattern: Pattern, names: readonly string[], p = 0, n = 0): boolean {
  const expected = pattern[p]
  if (expected === undefined) return true
  if (expected === anyNames)
    return covers(pattern, names, p + 1, n) || (n < names.length && covers(pattern, names, p, n + 1))
  const name = names[n]
  return name !== undefined && expected.test(name) && covers(pattern, names, p + 1, n + 1)
}
