import { visible } from '../../text/visible.js'

/** Rows of text with every column but the last as wide as its widest cell. */
export function columns(given: readonly (readonly string[])[], indent = ''): string {
  const rows = given.map(row => row.map(visible))
  const widths: number[] = []
  for (const row of rows) {
    row.slice(0, -1).forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)))
  }
  const padded = (row: readonly string[]) =>
    row.map((cell, at) => cell.padEnd(at === row.length - 1 ? 0 : (widths[at] ?? 0))).join('  ')
  return rows.map(row => `${indent}${padded(row)}`.trimEnd() + '\n').join('')
}

/** Groups digits by itself, because loading a locale slows the start. */
export function count(n: number): string {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',')
}

export function plural(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? '' : 's'}`
}

/** Rows of counts, each with its name and what it means if it is not zero. */
export function countRows(counts: readonly (readonly [name: string, n: number, meaning: string])[]): string[][] {
  const width = Math.max(...counts.map(([, n]) => count(n).length))
  return counts.map(([name, n, meaning]) => [name, count(n).padStart(width), n === 0 ? '' : meaning])
}

/** Shows that the parts add up to the whole. */
export function balance(whole: Part, parts: readonly Part[]): string {
  const shown = ([name, n]: Part) => `${count(n)} ${name}`
  const equation = `${shown(whole)} = ${parts.map(shown).join(' + ') || '0'}`
  const sum = parts.reduce((total, [, n]) => total + n, 0)
  return sum === whole[1] ? `${equation}, it balances` : `${equation}: DOES NOT BALANCE. Please report this`
}

type Part = readonly [name: string, n: number]

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
