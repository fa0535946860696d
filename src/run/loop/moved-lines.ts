/** Lets a feature rewrite lines between their format and their bodies. Marks still say where lines stood in their input. */
import type { Batch, Input, Lines, Mark } from '../../base/flow.js'
import type { BodyFramer, Started } from './hooks.js'
import { LINE_FEED } from '../../base/text/bytes.js'

export interface RewrittenLines {
  readonly lines: Lines
  /** Where each line began before. Absent: offsets did not count before, either. */
  readonly starts?: LineStarts | undefined
}

/** Returns a framer of lines as `rewrite` makes them. */
export function frameRewritten(inner: BodyFramer, rewrite: (input: Input, lines: Lines) => RewrittenLines): BodyFramer {
  /** By the id of their input. Undefined: the mark behind its last line is known. */
  const moved = new Map<number, LineStarts | undefined>()

  /** Puts the marks of a batch back to where the bytes stood in the input. */
  function placed(batch: Batch): Batch {
    const ends = batch.ends.map(({ input, mark }) => ({ input, mark: placedMark(input, mark) }))
    return { ...batch, ends }
  }

  function placedMark(input: Input, mark: Mark): Mark {
    // Another feature may have rewritten these lines.
    if (mark.kind !== 'edited' || !moved.has(input.id)) return mark
    const starts = moved.get(input.id)
    // A wrong position would lose lines that come later.
    if (starts === undefined) throw new Error(`the lines of ${input.name} were forgotten before their last mark`)
    const offset = starts.startOf(mark.line, mark.tail > 0)
    const tail = mark.tail > 0 ? starts.end - offset : 0
    if (starts.isPassed) moved.set(input.id, undefined)
    return { ...mark, kind: 'lines', offset, tail }
  }

  return {
    get reading() {
      return inner.reading
    },
    rest: () => {
      const batch = inner.rest()
      return batch === undefined ? undefined : placed(batch)
    },
    frame: async function* (input, token, lines) {
      const { lines: those, starts } = rewrite(input, lines)
      // Only these stood so in the input.
      if (starts === undefined || lines.kind !== 'lines') return yield* inner.frame(input, token, those)
      moved.set(input.id, starts)
      for await (const batch of inner.frame(input, token, those)) yield placed(batch)
      starts.hasEnded = true
      if (starts.isPassed) moved.set(input.id, undefined)
    },
  }
}

/** Returns names of inputs that differ from those when the run began: a resume sends the same bytes as before. */
export function namesOf({ plan }: Started['found']): ReadonlyMap<number, string> {
  const names = new Map<number, string>()
  for (const { source, known, by } of plan.inputs)
    if (known !== undefined && by === undefined && known.name !== source.name) names.set(source.id, known.name)
  return names
}

/** Lines of a piece that grows line by line. Only whole pieces are forgotten. */
const MOST_LINES = 4096

/** Lines that lie one behind the other. */
interface Piece {
  /** Number and offset of the first one. */
  readonly line: number
  readonly offset: number
  /** Where each ends, counted from there. */
  readonly ends: Uint32Array | number[]
}

export class LineStarts {
  /** Number and offset of the next line. */
  #line: number
  #offset: number
  /** The last line that a mark has reached. */
  #reached: number
  /** Where a line begins that is passed in pieces. */
  #long: number | undefined
  readonly #pieces: Piece[] = []
  /** Whether the last line lacks its line end, and no mark stands behind it yet. */
  #hasTail = false
  /** Whether no more lines come. */
  hasEnded = false

  constructor(offset: number, line: number) {
    this.#line = line
    this.#reached = line
    this.#offset = offset
  }

  get line(): number {
    return this.#line
  }

  /** Adds lines by where they end. */
  addAll(ends: Uint32Array): void {
    if (ends.length === 0) return
    this.#pieces.push({ line: this.#line, offset: this.#offset, ends: ends.slice() })
    this.#offset += ends.at(-1) ?? 0
    this.#line += ends.length
  }

  /** Adds a line by its length. `isWhole`: it has its line end. */
  add(bytes: number, isWhole: boolean): void {
    const last = this.#pieces.at(-1)
    if (Array.isArray(last?.ends) && last.ends.length < MOST_LINES) last.ends.push(this.#offset + bytes - last.offset)
    else this.#pieces.push({ line: this.#line, offset: this.#offset, ends: [bytes] })
    this.#offset += bytes
    if (isWhole) this.#line += 1
    else this.#hasTail = true
  }

  /** Adds a piece of a line that is passed on in pieces. */
  pass(bytes: Buffer): void {
    this.#long = (this.#long ?? 0) + bytes.length
    this.#hasTail = bytes.at(-1) !== LINE_FEED
    if (this.#hasTail) return
    this.add(this.#long, true)
    this.#long = undefined
  }

  /**
   * Returns the offset of a line, or of the end if it is the next one. Lines before it are forgotten. `isBehindTail`: the mark stands behind
   * the last line, which has no line end, so that it keeps its number.
   */
  startOf(line: number, isBehindTail = false): number {
    if (isBehindTail) this.#hasTail = false
    while ((this.#pieces[1]?.line ?? Infinity) <= line) this.#pieces.shift()
    this.#reached = line
    const [piece] = this.#pieces
    // A long line may lack its line end.
    if (line > this.#line) return this.end
    if (piece === undefined || line >= piece.line + piece.ends.length) return this.#offset
    return piece.offset + (line === piece.line ? 0 : (piece.ends[line - piece.line - 1] ?? 0))
  }

  /** Whether no mark comes any more. */
  get isPassed(): boolean {
    return this.hasEnded && !this.#hasTail && this.#reached >= this.#line
  }

  /** Returns the offset behind everything so far. */
  get end(): number {
    return this.#offset + (this.#long ?? 0)
  }
}
