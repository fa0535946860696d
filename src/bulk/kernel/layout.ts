/**
 * What both sides of the kernel agree on. Read by TypeScript and by AssemblyScript alike: whole numbers only.
 *
 * The memory holds, in this order: the texts of the action line, the marks, the area of checksums, the input area, two more of them that files are read into,
 * the slots that bodies are framed in.
 */

/** The kernel reads and writes up to 64 bytes at a time, so it may touch so many behind the end of anything. */
export const SLACK_BYTES = 64

/** Each text has its length in the first four bytes, and itself from `TEXT_START` on. */
const TEXT_BYTES = 512
export const TEXT_START = 16
export const LONGEST_TEXT_BYTES = TEXT_BYTES - TEXT_START - SLACK_BYTES

/** The action line: `BEFORE`, the id, `BETWEEN`, the routing, `AFTER`. */
export const BEFORE = 0 * TEXT_BYTES
export const BETWEEN = 1 * TEXT_BYTES
export const AFTER = 2 * TEXT_BYTES
/** What stands before and behind each document, on its line. */
export const OPENING = 3 * TEXT_BYTES
export const CLOSING = 4 * TEXT_BYTES
/** Names of the fields that hold id and routing, as they stand between the quotes of a key. */
export const ID_FIELD = 5 * TEXT_BYTES
export const ROUTING_FIELD = 6 * TEXT_BYTES
/** The number of the next document: decimal digits that end at `NUMBER_END`. */
export const NUMBER_END = 7 * TEXT_BYTES + 32
/** A piece of the input, which has a bit for each byte: see assembly/marks.ts. A power of two; it fits the CPU's first cache. */
export const PIECE_BYTES = 4096
export const MARKS = 4096
/** Behind the marks: the area that checksums of the memory's bytes use (src/checksum). */
export const CHECKSUM = 5120
/** The input area begins here, with a whole piece. Its last piece is read to the end, and further. */
export const INPUT_START = 2 * PIECE_BYTES
export const INPUT_SLACK_BYTES = PIECE_BYTES + SLACK_BYTES

/** Where the id comes from. */
export const ID_NONE = 0
export const ID_NUMBER = 1
export const ID_IN_FIELD = 2

/** Elasticsearch refuses a whole request for one longer id. */
export const MAX_ID_BYTES = 512

/** Why the kernel stopped: all lines are framed, or as many as were asked for. */
export const STOP_DONE = 0
/** …the next document does not fit into the body any more. */
export const STOP_FULL = 1
/** …a blank line follows: what comes behind it does not join on to what was framed. */
export const STOP_BLANK = 2
/** …the next line is for JavaScript: broken, nested too deep, longer than allowed, without a plain id or routing. */
export const STOP_LINE = 3
