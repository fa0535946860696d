/** Decides what Sluice's own ids end with, behind the token of the input. */
import { partNumber } from '../../base/text/bytes.js'

export interface OwnPlace {
  /** As in `Lines`. */
  readonly kind: string
  readonly document: number
  readonly offset: number
  readonly within?: number | undefined
}

/**
 * Returns whether the lines of an input are numbered by their offset. Other lines than these are rewritten: CSV, elements, edited
 * documents. Their offsets depend on the code that writes them, and such an input is never cut, so the number of the document is as stable.
 */
export function hasOffsets(kind: string): boolean {
  return kind === 'lines' || kind === 'range'
}

/** `byOffset`: whether the ids of the run end with offsets, if those of the input count. */
export function ownNumber({ kind, document, offset, within }: OwnPlace, byOffset: boolean): number | string {
  return byOffset && hasOffsets(kind) ? offset : partNumber(document, within)
}
