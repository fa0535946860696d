/** The constants of both sides of this kernel. Read by TypeScript and by AssemblyScript alike: whole numbers only. */

/** The kernel reads and copies up to 64 bytes at a time, so it may touch as many bytes after the end of anything. */
export const SPARE_BYTES = 64

/** How JSON writes each byte in a string: eight bytes, of which the last one says how many of the others count. */
export const ESCAPES = 0
/** Words for true, then words for false: each in eight bytes, in lower case, with zeros behind it. */
export const WORDS = 2048
export const LONGEST_WORD = 7
/** The area that checksums of the lines use (src/base/checksum). */
export const SUM_AREA = 3072

/** A record for each column: see `COLUMN_TEXT` and those behind it. */
export const COLUMNS = 4096
export const COLUMN_BYTES = 16
export const MOST_COLUMNS = 4096
/** The address of its text: comma, name, colon and quotation mark. */
export const COLUMN_TEXT = 0
export const COLUMN_TEXT_BYTES = 4
export const COLUMN_KIND = 8
export const COLUMN_FLAGS = 9
/** The most digits of a whole number that surely fits. */
export const COLUMN_DIGITS = 10
/** The place of the texts of the columns. */
export const TEXTS = 69632
export const TEXTS_BYTES = 262144

/** What the cells of a column are. Of the first kind every cell is text, and of the last one JavaScript reads each. */
export const KIND_TEXT = 0
export const KIND_TEXT_OR_MISSING = 1
export const KIND_NUMBER = 2
export const KIND_INFERRED = 3
export const KIND_BOOLEAN = 4
export const KIND_OTHER = 5

/** Bits of the flags. */
export const TAKES_POINT = 1
export const TAKES_MINUS = 2
export const MAY_MISS = 4
export const WRITES_NULL = 8

/** What JavaScript says of a cell, if it has not written its JSON: then it returns the number of bytes. */
export const READ_TEXT = -1
export const READ_AS_IT_STANDS = -2
export const READ_MISSING = -3
export const READ_UNFIT = -4

/** Why the kernel stopped: the next row is not whole. */
export const STOP_END = 0
/** …the next row is for JavaScript. */
export const STOP_ROW = 1
/** …there is no room for the line of the next row. */
export const STOP_ROOM = 2
