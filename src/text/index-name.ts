import { unicodeProblem } from './unicode.js'

/** Returns why Elasticsearch refuses the name of an index. Undefined if the name is valid. Never repeats the name. */
export function indexNameProblem(name: string): string | undefined {
  const half = unicodeProblem(name)
  if (half !== undefined) return half
  const forbidden = /[\\/*?"<>|,#:\s\p{Cc}]/u.exec(name)?.[0]
  if (forbidden !== undefined) return `contains ${nameOfCharacter(forbidden)}`
  if (name !== name.toLowerCase()) return 'has upper-case letters'
  if (/^[-_+]/.test(name)) return `starts with ${name[0]}`
  if (name === '.' || name === '..') return 'is not a name'
  const bytes = Buffer.byteLength(name)
  return bytes > 255 ? `has ${bytes} bytes, 255 are allowed` : undefined
}

function nameOfCharacter(character: string): string {
  if (/\s/.test(character)) return 'a space'
  return /\p{Cc}/u.test(character) ? 'a control character' : character
}
