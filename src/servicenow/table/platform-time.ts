const form = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/

/** `yyyy-MM-dd HH:mm:ss` in UTC: how the platform stores times, whole seconds that sort as text. */
export function platformTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}

export function isPlatformTime(text: unknown): text is string {
  return typeof text === 'string' && form.test(text)
}

/** The second after it. */
export function nextSecond(time: string): string {
  return platformTime(Date.parse(`${time.replace(' ', 'T')}Z`) + 1000)
}

export function earlier(a: string, b: string): string {
  return a < b ? a : b
}
