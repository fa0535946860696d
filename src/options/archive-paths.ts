/** Takes paths into archives apart: `export.zip/*.csv` is the archive, and a pattern of the files to read in it. */
import { statSync } from 'node:fs'
import type { IngestSource } from '../pipeline/source/open-sources.js'
import { isSourceUrl } from '../base/text/source-url.js'
import type { InputOptions } from './ingest-options.js'
import { namedIn } from './names.js'
import { invalid } from './option-checks.js'

const INTO_ARCHIVE = /^(.+?\.(?:zip|tar|tgz|tar\.\w+))\/(.+)$/i
const ARCHIVE = /\.(?:zip|tar|tgz|tar\.\w+)$/i

/**
 * Returns the options with `members` instead of such paths, so that both are one run. A folder may be called as an archive is. Throws
 * SluiceError OPTION_INVALID if files of several archives would be chosen in different ways.
 */
export function withMembers<Options extends Pick<InputOptions, 'source' | 'members'>>(given: Options): Options {
  const names = namedIn(given.source)
  const chosen = new Map<string, string[]>()
  for (const name of names) {
    const { archive, pattern } = intoArchive(name) ?? {}
    if (archive !== undefined && pattern !== undefined) chosen.set(archive, [...(chosen.get(archive) ?? []), pattern])
  }
  const [patterns] = chosen.values()
  if (patterns === undefined) return given
  const members = patterns.join(',')
  if (given.members !== undefined)
    throw invalid('source', 'names files in an archive. Choose them in the path or by members, not both')
  const others = [...chosen.values()].some(other => other.join(',') !== members)
  const wholes = names.some(name => ARCHIVE.test(name) && !chosen.has(name))
  if (others || wholes)
    throw invalid('source', 'names several archives, with different files in them. Load them one after the other')
  const source = names.map(name => intoArchive(name)?.archive ?? name)
  return { ...given, source: [...new Set(source)] satisfies IngestSource, members }
}

function intoArchive(name: string): { readonly archive: string; readonly pattern: string } | undefined {
  const [, archive, pattern] = isSourceUrl(name) ? [] : (INTO_ARCHIVE.exec(name) ?? [])
  if (archive === undefined || pattern === undefined) return undefined
  return statSync(archive, { throwIfNoEntry: false })?.isFile() === true ? { archive, pattern } : undefined
}
