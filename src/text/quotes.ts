/** Returns whether a value was pasted with the quotes around it, straight or typographic. */
export function isQuoted(value: string): boolean {
  return /^(["'`]).*\1$|^[“„‘‚«].*[”“’‘»]$/s.test(value)
}
