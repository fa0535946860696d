/**
 * Where the strict check of JSON finds what it needs in the memory of a kernel. Read by TypeScript and by AssemblyScript
 * alike: whole numbers only.
 */

/** The check reads and copies up to 64 bytes at a time, so it may touch as many bytes after the end of anything. */
export const SLACK_BYTES = 64

/** Each text has its length in the first four bytes, and itself from `TEXT_START` on. */
const TEXT_BYTES = 512
export const TEXT_START = 16
export const LONGEST_TEXT_BYTES = TEXT_BYTES - TEXT_START - SLACK_BYTES

/** Names of the fields that hold id and routing, as they stand between the quotes of a key. */
export const ID_FIELD = 5 * TEXT_BYTES
export const ROUTING_FIELD = 6 * TEXT_BYTES
/** Two bytes that are always zero, between the length of that text and the text. */
export const ZEROS = 6 * TEXT_BYTES + 8

/** A piece of the input, which has a bit for each byte: see assembly/marks.ts. A power of two; it fits the CPU's first cache. */
export const PIECE_BYTES = 4096
export const MARKS = 4096
/** The start of the input, and the free bytes after its end: the check reads whole pieces, so it reads beyond the end. */
export const INPUT_START = 3 * PIECE_BYTES
export const INPUT_SLACK_BYTES = PIECE_BYTES + SLACK_BYTES

/** Elasticsearch refuses a whole request for one longer id. */
export const MAX_ID_BYTES = 512
