/** Matches the keys of a bucket as a shell matches paths. */

/** The characters that make a name a pattern. A backslash takes their meaning away. */
const SPECIAL = /[*?[{\\]/

/** The default name of a file of dead letters: a wildcard does not mean it, as in a folder, unless its pattern begins so. */
const DEAD_LETTERS = /(^|\/)sluice-dead-letters-[^/]*$/

/** The keys that a pattern matches. */
export interface KeyPattern {
  /** All keys that match begin so. */
  readonly prefix: string
  matches(key: string): boolean
}

/** Returns undefined if the name is a key as it stands. */
export function keyPattern(name: string): KeyPattern | undefined {
  if (!SPECIAL.test(name)) return undefined
  // More of them mean the same, and take very long to match.
  const expression = new RegExp(`^${expressionOf(name.replaceAll(/\*{3,}/g, '**'))}$`, 'su')
  const isAsked = DEAD_LETTERS.test(name)
  return {
    prefix: name.slice(0, name.search(SPECIAL)),
    matches: key => expression.test(key) && (isAsked || !DEAD_LETTERS.test(key)),
  }
}

function expressionOf(name: string): string {
  let made = ''
  let depth = 0
  for (let at = 0; at < name.length; at += 1) {
    const character = name[at] ?? ''
    const rest = name.slice(at)
    const group = /^\[(!|\^)?(\]?[^\]]*)\]/.exec(rest)
    if (rest.startsWith('**/') && (at === 0 || name[at - 1] === '/')) {
      made += '(?:.*/)?'
      at += 2
    } else if (rest.startsWith('**')) {
      made += '.*'
      at += 1
    } else if (character === '*') made += '[^/]*'
    else if (character === '?') made += '[^/]'
    else if (group !== null && (group[2] ?? '') !== '') {
      made += `[${group[1] === undefined ? '' : '^/'}${classOf(group[2] ?? '')}]`
      at += group[0].length - 1
    } else if (character === '{' && rest.includes('}')) {
      made += '(?:'
      depth += 1
    } else if (character === '}' && depth > 0) {
      made += ')'
      depth -= 1
    } else if (character === ',' && depth > 0) made += '|'
    else if (character === '\\' && at + 1 < name.length) {
      at += 1
      made += literal(name[at] ?? '')
    } else made += literal(character)
  }
  return made + ')'.repeat(depth)
}

/** A range that ends before it begins is three characters. */
function classOf(characters: string): string {
  return characters
    .replaceAll(/[\\\]^[]/g, String.raw`\$&`)
    .replaceAll(/([^\\])-([^\\])/g, (range, from: string, to: string) => (from <= to ? range : `${from}\\-${to}`))
}

function literal(character: string): string {
  return character.replaceAll(/[$()*+./?[\\\]^{|}]/g, String.raw`\$&`)
}
