/** What an index may hold if ids come from a field: which edition of each document. 0 editions means that it is not there. */
import type { Line, Stored } from '../facts.js'
import type { Expected } from './expected.js'

const ABSENT = -1

/** What an operation makes of a document. */
const effects: Readonly<Record<string, (before: number, v: number) => number>> = {
  create: (before, v) => (before === ABSENT ? v : before),
  index: (_, v) => v,
  upsert: (_, v) => v,
  update: (before, v) => (before === ABSENT ? ABSENT : v),
  delete: () => ABSENT,
}

/** How the receipt counts it. */
const outcomes: Readonly<Record<string, (before: number, v: number) => string>> = {
  create: before => (before === ABSENT ? 'created' : 'rejected'),
  index: before => (before === ABSENT ? 'created' : 'updated'),
  upsert: (before, v) => (before === ABSENT ? 'created' : before === v ? 'noop' : 'updated'),
  update: (before, v) => (before === ABSENT ? 'rejected' : before === v ? 'noop' : 'updated'),
  delete: before => (before === ABSENT ? 'notFound' : 'deleted'),
}

export class Keyed implements Expected {
  readonly #possible = new Map<number, ReadonlySet<number>>()
  /** Documents that others wrote. */
  readonly #ofOthers = new Set<number>()
  readonly #op: string

  readonly #skips: boolean

  constructor(op: string, skips: boolean) {
    this.#op = op
    this.#skips = skips
  }

  begin(lines: readonly Line[]): void {
    for (const line of lines) this.#set(line, before => [before, this.#effect(before, line.v)])
  }

  resent(lines: readonly Line[]): void {
    this.begin(lines)
  }

  forgetIds(): void {
    // They come from a field.
  }

  finish(lines: readonly Line[]): void {
    const editions = new Map<number, Line[]>()
    for (const line of lines) editions.set(line.n, [...(editions.get(line.n) ?? []), line])
    // Requests that are open at once arrive in any order.
    for (const [line, ...others] of editions.values())
      if (line !== undefined) this.#set(line, before => [line, ...others].map(({ v }) => this.#effect(before, v)))
  }

  atLeastOnce(lines: readonly Line[]): void {
    this.finish(lines)
  }

  mayBeGone(lines: readonly Line[]): void {
    for (const line of lines) this.#set(line, before => [before, ABSENT])
  }

  gone(lines: readonly Line[]): void {
    for (const { n } of lines) this.#ofOthers.delete(n)
    for (const line of lines) this.#set(line, () => [ABSENT])
  }

  /** Which run created a document is not known here, but undo never deletes what others wrote (docs/guide/verify-and-undo.md). */
  takeBack(lines: readonly Line[]): void {
    this.mayBeGone(lines.filter(({ n }) => !this.#ofOthers.has(n)))
  }

  repaired(lines: readonly Line[]): void {
    this.finish(lines)
  }

  lost(): void {
    this.#ofOthers.clear()
    this.#possible.clear()
  }

  /** `numbers`: those that others wrote. */
  prefilled(index: readonly Stored[], numbers: readonly number[]): void {
    for (const { n, v } of index) this.#possible.set(n, new Set([v]))
    for (const n of numbers) this.#ofOthers.add(n)
  }

  /** How a load of these lines is counted, if only one thing is possible. */
  outcome({ n, v }: Line): string | undefined {
    const possible = this.#of(n)
    const made = new Set([...possible].map(before => outcomes[this.#op]?.(before, v)))
    const [outcome] = made.size === 1 ? [...made] : []
    return outcome === 'rejected' && this.#skips ? 'skipped' : outcome
  }

  check(index: readonly Stored[]): string[] {
    const seen = new Map(index.map(({ n, v }) => [n, v]))
    const problems: string[] = []
    for (const n of new Set([...seen.keys(), ...this.#possible.keys()])) {
      const edition = seen.get(n) ?? ABSENT
      const possible = this.#of(n)
      if (!possible.has(edition))
        problems.push(
          `${edition === ABSENT ? 'lost' : 'false'}: document ${n} has edition ${edition}, and not ${[...possible].join(' or ')}`,
        )
    }
    return problems
  }

  #effect(before: number, v: number): number {
    return effects[this.#op]?.(before, v) ?? before
  }

  #of(n: number): ReadonlySet<number> {
    return this.#possible.get(n) ?? new Set([ABSENT])
  }

  #set({ n, isBad }: Line, make: (before: number) => readonly number[]): void {
    if (!isBad) this.#possible.set(n, new Set([...this.#of(n)].flatMap(make)))
  }
}
