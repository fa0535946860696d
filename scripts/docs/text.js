/** Escapes text of a terminal that Markdown would take for markup. */
export function plain(text) {
  return text.replaceAll(/`[^`]*`|[\\*<]/g, part => (part.startsWith('`') ? part : `\\${part}`))
}

/** Escapes what would end a cell of a table. */
export function inCell(text) {
  return text.replaceAll('|', '\\|')
}
