/** The constants of both sides of this kernel. Read by TypeScript and by AssemblyScript alike: whole numbers only. */

/** Why the kernel stopped: all lines are edited. */
export const STOP_EDITED = 0
/** …the output, or the list of lines, has no room for the next line. */
export const STOP_OUT_FULL = 1
/** …the next line is no matter for the kernel, whatever the reason. */
export const STOP_EDIT_LINE = 2

/** The decimals of a line's number end here. */
export const LINE_NUMBER_END = 6144
/** For each value to set, in the current document: its insert, the place, the depth of the level, and whether it is alone there. */
export const STATES = 6400
export const STATE_BYTES = 16
/** Of each value: address and length of the text before the number of the line, the same behind it, whether there is a number. */
export const VALUES = 7424
export const VALUE_BYTES = 20
/** More values or new names are left to JavaScript: their numbers are bits. */
export const MOST_NUMBERS = 31
/** In the place of a number: there is none. */
export const NONE = 255

/** A level: keeps, fields, lengths of their names as bits (8 bytes), fields at, dropped, at, kept, at, inserts, at, depth. */
export const LEVEL_BYTES = 48
/** A field: length of its name, at, flags, set, rename, new key at, its length, targets, level inside. */
export const EDIT_BYTES = 36
/** The number of a value, and its key: at, length. */
export const INSERT_BYTES = 12
/** At, length. */
export const TEXT_BYTES = 8
export const IS_DROPPED = 1
export const IS_WAY = 2

/** From, to, text at, its length. */
export const PATCH_BYTES = 16
/** Patches of one line. */
export const MOST_PATCHES = 4096
/** Lines of one call. */
export const MOST_EDIT_LINES = 65536
