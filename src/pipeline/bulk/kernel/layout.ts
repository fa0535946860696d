/**
 * What both sides of the kernel agree on, beside what the strict check needs (src/base/json/strict/layout.ts). Read by TypeScript and by
 * AssemblyScript alike: whole numbers only.
 *
 * The memory holds, in this order: the texts of the action line, the marks, the area of checksums, the fields of ids and their hash, the names of indices, the input area, two more of them that files are read into,
 * the slots that bodies are framed in.
 */

/** The same number as there: the two compilers need different names for that file. */
const TEXT_BYTES = 512

/** The action line: `BEFORE`, the id, `BETWEEN`, the routing, `AFTER`. */
export const BEFORE = 0 * TEXT_BYTES
export const BETWEEN = 1 * TEXT_BYTES
export const AFTER = 2 * TEXT_BYTES
/** The text before and after each document, on its line. */
export const OPENING = 3 * TEXT_BYTES
export const CLOSING = 4 * TEXT_BYTES
/** The number of the next document, or the offset of its line: decimal digits that end at `NUMBER_END`. */
export const NUMBER_END = 7 * TEXT_BYTES + 32
/** Begins the action line if each document names its index. Behind the digits. */
export const NAME_OPENING = 7 * TEXT_BYTES + 64
export const NAME_OPENING_BYTES = 256
/** Behind the marks: the area that checksums of the memory's bytes use (src/base/checksum). */
export const CHECKSUM = 5120

/** Paths of the fields that are looked for anywhere in a document, each with its length first, and then its text. */
export const FIELDS = 8192
export const FIELD_BYTES = 256
export const MOST_FIELDS = 8
/** Text to hash, with room for the padding and for what a copy writes too much. */
export const HASHED = 10240
export const LONGEST_HASHED = 1024
/** State and constants of SHA-256. */
export const HASH_STATE = 11520
export const FIRST_STATE = 11552
export const ROUNDS = 64
export const ROUND_CONSTANTS = 11584
export const SCHEDULE = 11840

/**
 * Names of indices that are known, by what the fields say. Each has: bytes of the key, bytes of the name, how many documents got it,
 * and then both. It lies where the input of other kernels begins.
 */
export const NAMES = 3 * 4096
export const MOST_NAMES = 1024
export const NAME_BYTES = 384
export const NAMES_BYTES = 1024 * 384
export const NAME_KEY = 16
export const LONGEST_KEY = 96
export const NAME_TEXT = 16 + 96
/** How many places a key may have. */
export const NAME_PLACES = 16

/** How a field stands in the name of an index. */
export const AS_VALUE = 0
export const AS_DATE = 1

/** Where the id comes from. */
export const ID_NONE = 0
export const ID_NUMBER = 1
export const ID_IN_FIELD = 2
export const ID_OF_PARTS = 3
export const ID_OFFSET = 4

/** Why the kernel stopped: all lines are framed, or as many as were asked for. */
export const STOP_DONE = 0
/** …the next document does not fit into the body any more. */
export const STOP_FULL = 1
/** …a blank line follows: what comes behind it does not join on to what was framed. */
export const STOP_BLANK = 2
/** …the next line is for JavaScript: broken, nested too deep, longer than allowed, without a plain id or routing. */
export const STOP_LINE = 3
