/** HTML that is safe to show. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Piece = Markup | string | number | readonly Markup[]

/** Makes HTML. Escapes every text in it. */
export function markup(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  return new Markup(strings.map((text, at) => text + textOf(pieces[at] ?? '')).join(''))
}

function textOf(piece: Piece): string {
  if (piece instanceof Markup) return piece.text
  if (typeof piece === 'object') return piece.map(({ text }) => text).join('')
  return String(piece).replaceAll(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

/** A table that scrolls within itself, or a sentence if it is empty. */
export function tableOf(
  name: string,
  heads: readonly string[],
  rows: readonly (readonly Piece[])[],
  empty: string,
): Markup {
  if (rows.length === 0) return markup`<p class="empty">${empty}</p>`
  const head = heads.map(text => markup`<th scope="col">${text}</th>`)
  const body = rows.map(
    ([first = '', ...rest]) =>
      markup`<tr><th scope="row">${first}</th>${rest.map(cell => markup`<td>${cell}</td>`)}</tr>`,
  )
  return markup`<div class="scroll" role="region" aria-label="${name}" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`
}
