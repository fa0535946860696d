/** The place where the cutter begins. `first`: at the start of an array. `next`: behind an element. `top`: between top-level values, which have no commas. */
export type Between = 'first' | 'next' | 'top'

/** The result of one call. */
export interface Cut {
  /** The lines, valid until the next call: each object with its numbers and strings as they stood, and no white space between. */
  readonly lines: Buffer
  readonly objects: number
  /** Offset behind the last of them. */
  readonly takenTo: number
  /** Offset where it stopped: behind the white space and the comma that follow. */
  readonly stoppedAt: number
  /** Why it stopped there. `object`: the object is broken, cut off, or unusual. `other`: something else stands there. */
  readonly stop: 'end' | 'object' | 'other'
}

export interface Cutter {
  /** Holds the bytes to cut, from its start. */
  readonly input: Buffer
  /** Takes the objects of `input` in [from, to), at most `most`. It takes no broken one, but does not look at UTF-8. */
  cut(from: number, to: number, place: Between, most?: number): Cut
}

/** The parser reads longer objects, and objects after more white space. */
export const LONGEST_BYTES = 1 << 20
/** The parser also reads deeper objects: by default, no index takes as many levels. */
export const MOST_LEVELS = 64
/** Most bytes that join the start of an incomplete object at once: they stay in the CPU's second cache. */
export const JOINED_BYTES = 256 << 10
export const INPUT_BYTES = 2 * LONGEST_BYTES + JOINED_BYTES
