/** Writes numbers for people. */

/** Groups digits by itself, because loading a locale slows the start. */
export function count(n: number): string {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',')
}

export function plural(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? '' : 's'}`
}

export function bytes(n: number): string {
  if (n < 1000) return `${Math.round(n)} B`
  const unit = n < 999_950 ? 'kB' : n < 999_950_000 ? 'MB' : 'GB'
  const divisor = { kB: 1e3, MB: 1e6, GB: 1e9 }[unit]
  return `${(n / divisor).toFixed(1)} ${unit}`
}

export function showDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60]
  return h > 0 ? `${h} h ${m} min` : `${m} min ${s} s`
}
