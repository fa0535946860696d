import type { Stats } from 'node:fs'

/** A file that changed within this time may change again and show the same time: two seconds is the coarsest step of all systems. */
const RACY_MS = 2000

/**
 * Returns what shows that a file is unchanged. Its time of change is 0, which no file has, if that was so recent that the next change
 * may show the same time.
 */
export function fileStat({ size, ino: inode, mtimeMs, ctimeMs }: Stats) {
  return { size, inode, mtimeMs, ctimeMs: ctimeMs + RACY_MS < Date.now() ? ctimeMs : 0 }
}
