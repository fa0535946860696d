/** The addresses of the kernel's bytes and tables. TypeScript and AssemblyScript both read this file, so it holds only whole numbers. */

/** A match lies at most this far back (RFC 1951). */
export const WINDOW_BYTES = 32_768
/** Each block has codes of its own. In smaller blocks the tables of the codes cost more, in larger ones the codes fit less. */
export const BLOCK_BYTES = 196_608

/** Eight bytes are read, and written, at once. */
const SLACK_BYTES = 64

/** The last bytes of the block before, then those of this one. */
export const WINDOW = 1024
export const INPUT = WINDOW + WINDOW_BYTES

/** Stored blocks are the longest output: five bytes for each 65,535. */
export const OUTPUT = INPUT + BLOCK_BYTES + SLACK_BYTES
const OUTPUT_BYTES = BLOCK_BYTES + 1024

/** For each hash of six bytes the place where they were last. */
export const HASH_BITS = 16
export const PLACES = OUTPUT + OUTPUT_BYTES
export const PLACES_BYTES = 4 << HASH_BITS

/** A step is a run of literals and the match behind it: two words. A match has at least four bytes. */
export const STEPS = PLACES + PLACES_BYTES
const STEPS_BYTES = (BLOCK_BYTES / 4 + 2) * 8

/** Tables of 32-bit words, one for each symbol: how often it occurs, its code with its length. */
export const SYMBOLS = 288
export const DISTANCES = 32
export const COUNTS = STEPS + STEPS_BYTES
export const DISTANCE_COUNTS = COUNTS + 4 * SYMBOLS
export const CODES = DISTANCE_COUNTS + 4 * DISTANCES
export const DISTANCE_CODES = CODES + 4 * SYMBOLS
/** For each length of a match its code, the bits behind it, and how many bits these are. */
export const LENGTH_CODES = DISTANCE_CODES + 4 * DISTANCES
/** Tables of bytes: how long the code of a symbol is, in bits. */
export const WIDTHS = LENGTH_CODES + 4 * 260
export const DISTANCE_WIDTHS = WIDTHS + SYMBOLS
/** Which symbol stands for a length, and for a distance below 256, and for a distance by its upper bits. */
export const LENGTH_SYMBOLS = DISTANCE_WIDTHS + DISTANCES
export const NEAR_SYMBOLS = LENGTH_SYMBOLS + 260
export const FAR_SYMBOLS = NEAR_SYMBOLS + 256
/** The least length, and the least distance, of each symbol. */
export const LEAST_LENGTHS = FAR_SYMBOLS + 260
export const LEAST_DISTANCES = LEAST_LENGTHS + 4 * 32

/** Where codes are computed: symbols by how often they occur, then the nodes of the tree. */
export const SORTED = LEAST_DISTANCES + 4 * 32
export const WEIGHTS = SORTED + 4 * SYMBOLS
export const PARENTS = WEIGHTS + 8 * SYMBOLS
export const WIDTH_COUNTS = PARENTS + 8 * SYMBOLS
/** The table of a block: widths of all symbols in a row, then as runs, then codes of the runs. */
export const ROW = WIDTH_COUNTS + 4 * 64
export const RUNS = ROW + 320
export const RUN_EXTRAS = RUNS + 320
export const RUN_COUNTS = RUN_EXTRAS + 320
export const RUN_CODES = RUN_COUNTS + 4 * 19
export const RUN_WIDTHS = RUN_CODES + 4 * 19

export const MEMORY_BYTES = RUN_WIDTHS + 64
