/** How quotes stand around cells and in them: `"`, `'`, either behind a backslash (`\"`), or nothing if cells have none. */
export interface Quotation {
  /** The byte around cells. Undefined: every cell is taken as it stands. */
  readonly byte: number | undefined
  /** Whether a quote in a cell may stand behind a backslash. Then a backslash may too. Twice in a row, a quote is one anyway. */
  readonly isSlashed: boolean
}

export function quotationOf(text: string): Quotation {
  return { byte: text === '' ? undefined : text.charCodeAt(text.length - 1), isSlashed: text.length === 2 }
}

/** Returns what a cell says whose quotes are written in two characters. */
export function unquoted(text: string, { byte, isSlashed }: Quotation): string {
  if (byte === undefined) return text
  const quote = String.fromCharCode(byte)
  if (!isSlashed) return text.replaceAll(quote + quote, quote)
  return text.replaceAll(new RegExp(`\\\\([\\\\${quote}])|${quote}{2}`, 'g'), (_, behind?: string) => behind ?? quote)
}
