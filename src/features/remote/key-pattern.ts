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

const OPEN = '(?:'
const CLOSE = ')'

/** What each sign of a pattern means, in this order. `depth`: how many braces are open. Undefined: it is another sign here. */
const signs: readonly (readonly [
  sign: RegExp,
  meaning: (found: RegExpExecArray, depth: number) => string | undefined,
])[] = [
  [/(?<![^/])\*\*\//y, () => '(?:.*/)?'],
  [/\*\*/y, () => '.*'],
  [/\*/y, () => '[^/]*'],
  [/\?/y, () => '[^/]'],
  [/\[([!^])?(\]?[^\]]*)\]/y, ([, not, characters]) => groupOf(not, characters)],
  [/\{(?=[^]*\})/y, () => OPEN],
  [/\}/y, (_, depth) => (depth > 0 ? CLOSE : undefined)],
  [/,/y, (_, depth) => (depth > 0 ? '|' : undefined)],
  [/\\([^])/y, ([, character = '']) => literal(character)],
  [/[^]/y, ([character]) => literal(character)],
]

function expressionOf(name: string): string {
  let made = ''
  let depth = 0
  for (let at = 0; at < name.length;) {
    const { meaning, length } = signAt(name, at, depth)
    made += meaning
    at += length
    if (meaning === OPEN) depth += 1
    if (meaning === CLOSE) depth -= 1
  }
  return made + CLOSE.repeat(depth)
}

function signAt(name: string, at: number, depth: number): { readonly meaning: string; readonly length: number } {
  for (const [sign, meaningOf] of signs) {
    sign.lastIndex = at
    const found = sign.exec(name)
    const meaning = found === null ? undefined : meaningOf(found, depth)
    if (found !== null && meaning !== undefined) return { meaning, length: found[0].length }
  }
  return { meaning: '', length: 1 }
}

/** Returns undefined for a group of nothing. */
function groupOf(not: string | undefined, characters = ''): string | undefined {
  return characters === '' ? undefined : `[${not === undefined ? '' : '^/'}${classOf(characters)}]`
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
