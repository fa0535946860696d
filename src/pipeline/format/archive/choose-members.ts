/** Says which files of an archive hold documents: those that the user chose, or those that do not look like papers beside the data. */

import { anyCharacter, anyFolders, type GlobPart, globMatcher, inOneName, literally } from '../../../base/text/glob.js'

/** Names of files that accompany data, and endings of what people read or look at. */
const BESIDE =
  /(?:^|\/)(?:(?:readme|licen[cs]e|copying|notice|authors|changelog|changes)(?:\.(?:txt|rst|html?))?|[^/]+\.(?:md|markdown|rst|pdf|docx?|rtf|png|jpe?g|gif|svg|webp|ico|css))$/i

/** Endings that promise documents, perhaps compressed. */
const OF_DATA = /\.(?:json|ndjson|jsonl|geojson|csv|tsv|tab|log|dat|bulk)(?:\.(?:gz|zst|bz2|xz|br))?$/i

/** Returns whether a file holds no documents, by its name. */
export function isBesideData(name: string): boolean {
  return BESIDE.test(name)
}

/** Returns whether a file that looks like this kind of text or data holds no documents. */
export function looksBesideData(name: string, kind: string): boolean {
  return /^(?:plain text|a table|binary data)/.test(kind) && !OF_DATA.test(name)
}

/**
 * Returns what tells whether a name fits one of the patterns, separated by commas. `*` stands for any letters but `/`, `**` for any letters,
 * `?` for one. A pattern without `/` is that of a name in any folder.
 */
export function fitsPatterns(patterns: string): (name: string) => boolean {
  const fitting = patterns.split(',').map(pattern => globMatcher(partsOf(pattern.trim())))
  return name => fitting.some(fits => fits(name))
}

function partsOf(pattern: string): GlobPart[] {
  const parts = pattern.match(/\*\*\/?|[*?]|[^*?]+/g) ?? []
  const body = parts.flatMap(part => WILD[part] ?? literally(part))
  return pattern.includes('/') ? body : [anyFolders, ...body]
}

const WILD: Readonly<Record<string, GlobPart>> = {
  '*': { many: inOneName },
  '?': { one: inOneName },
  '**': { many: anyCharacter },
  '**/': anyFolders,
}
