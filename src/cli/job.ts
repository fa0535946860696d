import { createHash } from 'node:crypto'

/** What a command does, as far as that is the same each time: what tells its incidents from those of others. */
export interface Work {
  readonly command: string
  /** As they were typed: globs. */
  readonly sources: readonly string[]
  readonly index?: string | undefined
  /** Of a table: which of its rows. */
  readonly query?: string | undefined
}

/** Characters of the name that people know it by. */
const SHOWN = 60

/**
 * A name for the job of work that was given none. Nothing can be read out of it but the index. `places`: URLs of where it is read and
 * loaded, without credentials.
 */
export function jobOf({ command, sources, index = '', query }: Work, places: readonly (string | undefined)[]): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([command, index, sources, places, query]))
    .digest('hex')
  return `${nameable(index) || command}-${hash.slice(0, 16)}`
}

/** An index may have a name that no query could hold. */
function nameable(text: string): string {
  return text
    .replaceAll(/[^\w.-]/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, SHOWN)
}
