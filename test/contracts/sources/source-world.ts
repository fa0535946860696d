/** What a source must show to be played by the suite of sources: how its inputs come about, and what goes wrong with them. */
import type { Source } from '../../../src/base/flow.js'

export interface Row {
  readonly n: number
  readonly fill: string
}

/** An input whose reading does not go well. */
export interface Troubled {
  readonly source: Source
  /** Called when its first bytes were read. */
  strike?(): void | Promise<void>
}

/** An input whose next bytes do not come. */
interface Stalled {
  readonly source: Source
  /** Resolves when somebody waits for them. */
  readonly waits: Promise<unknown>
}

export interface SourceWorld extends AsyncDisposable {
  /** Makes inputs of rows and returns them as a load gets them: named one by one, in this order. */
  offer(inputs: Readonly<Record<string, readonly Row[]>>): Promise<readonly Source[]>
  /** Makes the same inputs, and returns those of one pattern that all of them match. */
  offerMatched?(inputs: Readonly<Record<string, readonly Row[]>>): Promise<readonly Source[]>
  /** Makes an input of bytes. Absent: its inputs are made of documents, not of bytes. */
  offerBytes?(name: string, bytes: Buffer): Promise<Source>
  /** Looks for an input that is not there. */
  missing?(): Promise<unknown>
  /** Another input takes its place behind the same name while it is read. */
  replaced?(before: readonly Row[], after: readonly Row[]): Promise<Troubled>
  /** It ends before all that was there when it was found. */
  shortened?(rows: readonly Row[]): Promise<Troubled>
  /** It fails in the middle. */
  failing?(rows: readonly Row[]): Promise<Troubled>
  /** Its next bytes do not come. */
  stalled?(rows: readonly Row[]): Promise<Stalled>
  /** What may stand in no message. */
  readonly secrets: readonly string[]
  /** The part of a message that says which input failed. Default: its name. */
  readonly named?: string
  /** Resolves when nothing that was opened is still open. */
  closed(): Promise<void>
}

/** A kind of source: one row of the suite. */
export interface SourceKind {
  readonly title: string
  /** Enough rows that reading takes several steps. Default: 6 MB. */
  readonly many?: number
  /** How an input is read again: from its file, from its start behind its address, from a place, or not at all. */
  readonly again: 'file' | 'address' | 'place' | 'never'
  /** Whether an iteration that ends early has closed everything when it ends. Others close soon after. */
  readonly closesAtOnce: boolean
  /** What the world cannot do with such an input, and why: the suite asks for the reason. */
  readonly lacks: Readonly<Partial<Record<Optional, string>>>
  open(): Promise<SourceWorld>
}

export type Optional = 'offerMatched' | 'offerBytes' | 'missing' | 'replaced' | 'shortened' | 'failing' | 'stalled'

export function rowsOf(count: number, first = 1, letter = 'x'): Row[] {
  return Array.from({ length: count }, (_, at) => ({ n: first + at, fill: letter.repeat(1000) }))
}

export function bytesOf(rows: readonly Row[]): Buffer {
  return Buffer.from(rows.map(row => `${JSON.stringify(row)}\n`).join(''))
}
