import { visible } from '../../../base/text/shown.js'

/** A file in an archive. The caller reads the bytes of one before it asks for the next one. */
export interface ArchiveFile {
  /** A name, and nothing more: no file of this name is ever opened or written. */
  readonly name: string
  /** Why it is passed over: it holds no documents. */
  readonly passedOver?: PassedOver
  /** Why it cannot be read, if its headers show that. */
  readonly refused?: string
  /** Ends with an error if the content is damaged, after all that could be read. */
  readonly bytes?: AsyncIterable<Uint8Array>
}

export type PassedOver = 'empty files' | 'links' | 'devices' | 'files of macOS'

/** Longer names are cut off: the writer of an archive may choose any length. */
const MOST_LETTERS = 1000

/** Returns the name as messages can show it. */
export function shownName(name: string): string {
  return visible(name.replace(/^(?:\.\/)+/, '').slice(0, MOST_LETTERS))
}

/** Returns whether the Finder of macOS put the file beside those of its user. */
export function isOfMacOs(name: string): boolean {
  return /^__MACOSX\/|(?:^|\/)(?:\._[^/]*|\.DS_Store)$/.test(name)
}
