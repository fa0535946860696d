import { count, visible } from '../../base/text/shown.js'

export { bytes, count, plural, showDuration } from '../../base/text/shown.js'

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
