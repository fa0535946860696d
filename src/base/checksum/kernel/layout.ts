/** The constants of both sides of this kernel. Read by TypeScript and by AssemblyScript alike: whole numbers only. */

/** Four columns of 16 bytes. Each column is one register. */
export const STRIPE_BYTES = 64

/** The kernel's area in a memory: first the state, as large as a stripe, then as many keys. */
export const KEYS = 64
export const AREA_BYTES = 128
