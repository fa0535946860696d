/** The constants of both sides of this kernel. Read by TypeScript and by AssemblyScript alike: whole numbers only. */

/** Why the kernel stopped: nothing but white space, and perhaps a comma, is left. */
export const STOP_END = 0
/** …the object that begins there is broken, cut off, nested too deep, or longer than allowed. */
export const STOP_OBJECT = 1
/** …something else stands there. */
export const STOP_OTHER = 2

/** The state of an array: no comma stands before its first element. Between top-level values there is never one. */
export const FIRST = 0
export const NEXT = 1
export const TOP_LEVEL = 2
