/** Milliseconds since 1970 as the platform writes a time: `yyyy-MM-dd HH:mm:ss`, UTC. */
export function formatTimestamp(ms: number): string {
  const iso = new Date(ms).toISOString()
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}`
}

/** Returns the milliseconds of a time in the platform's format. NaN for any other text. */
export function parseTimestamp(text: string): number {
  return /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text) ? Date.parse(`${text.replace(' ', 'T')}Z`) : Number.NaN
}
