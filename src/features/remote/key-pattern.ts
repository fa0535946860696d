/** Matches the keys of a bucket as a shell matches paths. */

import { anyCharacter, anyFolders, type GlobPart, globMatcher, inOneName, literally } from '../../base/text/glob.js'

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
  const fits = globMatcher(partsOf(name.replaceAll(/\*{3,}/g, '**')))
  const isAsked = DEAD_LETTERS.test(name)
  return {
    prefix: name.slice(0, name.search(SPECIAL)),
    matches: key => fits(key) && (isAsked || !DEAD_LETTERS.test(key)),
  }
}

/** A part of the pattern, or a sign of braces. */
type Sign = GlobPart | '{' | '}' | ','

/** What each sign of a pattern means, in this order. `depth`: how many braces are open. Undefined: it is another sign here. */
const signs: readonly (readonly [
  sign: RegExp,
  meaning: (found: RegExpExecArray, depth: number) => Sign | undefined,
])[] = [
  [/(?<![^/])\*\*\//y, () => anyFolders],
  [/\*\*/y, () => ({ many: anyCharacter })],
  [/\*/y, () => ({ many: inOneName })],
  [/\?/y, () => ({ one: inOneName })],
  [/\[([!^])?(\]?[^\]]*)\]/y, ([, not, characters]) => groupOf(not, characters)],
  [/\{(?=[^]*\})/y, () => '{'],
  [/\}/y, (_, depth) => (depth > 0 ? '}' : undefined)],
  [/,/y, (_, depth) => (depth > 0 ? ',' : undefined)],
  [/\\([^])/uy, ([, character = '']) => literally(character)[0]],
  [/[^]/uy, ([character = '']) => literally(character)[0]],
]

function partsOf(name: string): GlobPart[] {
  /** What was read of each open brace, and before all of them: its sequences so far. */
  const open: GlobPart[][][] = [[[]]]
  const add = (part: GlobPart) => open.at(-1)?.at(-1)?.push(part)
  const close = () => add({ either: open.pop() ?? [] })
  for (let at = 0; at < name.length;) {
    const { sign, length } = signAt(name, at, open.length - 1)
    at += length
    if (sign === '{') open.push([[]])
    else if (sign === '}') close()
    else if (sign === ',') open.at(-1)?.push([])
    else if (sign !== undefined) add(sign)
  }
  while (open.length > 1) close()
  return open[0]?.[0] ?? []
}

function signAt(name: string, at: number, depth: number): { readonly sign?: Sign; readonly length: number } {
  for (const [pattern, meaningOf] of signs) {
    pattern.lastIndex = at
    const found = pattern.exec(name)
    const sign = found === null ? undefined : meaningOf(found, depth)
    if (found !== null && sign !== undefined) return { sign, length: found[0].length }
  }
  return { length: 1 }
}

/** Returns undefined for a group of nothing. */
function groupOf(not: string | undefined, characters = ''): GlobPart | undefined {
  if (characters === '') return undefined
  const group = new RegExp(`^[${not === undefined ? '' : '^/'}${classOf(characters)}]$`, 'su')
  return { one: character => group.test(character) }
}

/** A range that ends before it begins is three characters. */
function classOf(characters: string): string {
  return characters
    .replaceAll(/[\\\]^[]/g, String.raw`\$&`)
    .replaceAll(/([^\\])-([^\\])/gu, (range, from: string, to: string) => (from <= to ? range : `${from}\\-${to}`))
}
