/** What documents become while they are loaded: docs/guide/edits.md. The function of stories is in `shaping.ts`. */
import { isRare, type Line, type Load } from '../facts.js'
import type { Expected } from './expected.js'

/** Returns the documents that come of a line. */
export type Shaping = (line: Line) => readonly Line[]

export const unshaped: Shaping = line => [line]

export const transformed: Shaping = line => {
  if (line.isBad) return [line]
  const way = line.n % 4
  if (way === 0) return []
  return way === 1 ? [line, { ...line, n: line.n + 1_000_000 }] : [line]
}

/** Returns the fields of a document, in their order, without a tag. */
export function fieldsOf(n: number, { edit, hasRare }: Pick<Load, 'edit' | 'hasRare'>, transforms: boolean): string {
  const fields = ['n', 'v', 'part', ...(edit === undefined ? ['fill'] : edit === 'rename' ? ['filling'] : [])]
  if (hasRare && isRare(n)) fields.push('rare')
  return [...fields, ...(transforms && n % 4 === 2 ? ['made'] : [])].join(' ')
}

/** What an index may hold if documents are shaped on their way. */
export class Shaped implements Expected {
  readonly #inner: Expected
  readonly #shaping: Shaping

  constructor(inner: Expected, shaping: Shaping) {
    this.#inner = inner
    this.#shaping = shaping
  }

  begin(lines: readonly Line[], isCopy = false): void {
    this.#inner.begin(lines.flatMap(this.#shaping), isCopy)
  }

  resent(lines: readonly Line[]): void {
    this.#inner.resent(lines.flatMap(this.#shaping))
  }

  forgetIds(): void {
    this.#inner.forgetIds()
  }

  finish(lines: readonly Line[]): void {
    this.#inner.finish(lines.flatMap(this.#shaping))
  }

  atLeastOnce(lines: readonly Line[]): void {
    this.#inner.atLeastOnce(lines.flatMap(this.#shaping))
  }

  takeBack(lines: readonly Line[], isSure: boolean): void {
    this.#inner.takeBack(lines.flatMap(this.#shaping), isSure)
  }

  /** A replay calls no function. */
  repaired(lines: readonly Line[]): void {
    this.#inner.repaired(lines)
  }

  lost(): void {
    this.#inner.lost()
  }

  check(index: Parameters<Expected['check']>[0]): string[] {
    return this.#inner.check(index)
  }
}
