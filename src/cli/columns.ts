/** Rows of text with every column but the last as wide as its widest cell. */
export function columns(rows: readonly (readonly string[])[], indent = ''): string {
  const widths: number[] = []
  for (const row of rows) {
    row.slice(0, -1).forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)))
  }
  return rows
    .map(row =>
      `${indent}${row.map((cell, at) => cell.padEnd(at === row.length - 1 ? 0 : (widths[at] ?? 0))).join('  ')}`.trimEnd(),
    )
    .map(line => `${line}\n`)
    .join('')
}
