/** How numbers are written. A spread shows its median, and its ends behind it. */
export const plain = value => {
  if (value === undefined || !Number.isFinite(value)) return '–'
  if (value >= 1000) return Math.round(value).toLocaleString('en-US')
  if (value >= 100) return value.toFixed(0)
  return value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

export const withEnds = (spread, scale = 1) => {
  if (spread === undefined) return '–'
  const { median, min, max } = spread
  return `${plain(median * scale)} (${plain(min * scale)}–${plain(max * scale)})`
}

export const median = (spread, scale = 1) => plain(spread === undefined ? undefined : spread.median * scale)

export const megabytes = bytes => plain(bytes / 1e6)

/** The first column is text, the others are figures unless told otherwise. */
export function table(head, rows, { text = false } = {}) {
  const line = cells => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, at) => (at === 0 || text ? '---' : '---:'))), ...rows.map(line)].join('\n')
}
