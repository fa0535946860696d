import { readFileSync } from 'node:fs'
import { globSync } from 'tinyglobby'

/**
 * How slow a test is, is said once, by a tag: at the test, or for a whole file in its first line, `// @module-tag long`.
 * `npm run test:long` runs what is long, and `npm run search` runs what searches.
 */
export const tags = [{ name: 'long' }, { name: 'search' }]

/** The test files without those on real servers. */
export const testFiles: readonly string[] = ['test/{unit,lab,cli,types,world}/**/*.test.ts', 'test/*.test.ts']

interface TestFile {
  readonly path: string
  readonly text: string
  /** The tag of the whole file. */
  readonly tag: string | undefined
}

/** Reads the test files and their tags. Throws for a tag in another line, because readers would miss it there. */
export function taggedFiles(): TestFile[] {
  return globSync([...testFiles]).map(path => {
    const text = readFileSync(path, 'utf8')
    return { path, text, tag: tagOf(path, text) }
  })
}

/** Returns the tag of a whole file. Throws for one in another line, or with another name. */
export function tagOf(path: string, text: string): string | undefined {
  const line = text.search(/^\s*(?:\/\/|\/?\*+)\s*@module-tag\b/m)
  if (line === -1) return undefined
  const tag = /^\/\/ @module-tag (\w+)\n/.exec(text)?.[1]
  if (tags.some(({ name }) => name === tag)) return tag
  throw new Error(`${path} must name its tag in its first line: "// @module-tag long" or "// @module-tag search".`)
}
