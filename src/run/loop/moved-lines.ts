/** Lets a feature rewrite lines between their format and their bodies. Marks still say where lines stood in their input. */
import type { Batch, Input, Lines, Mark } from '../../base/flow.js'
import type { BodyFramer, Started } from './hooks.js'
import type { LineStarts } from './line-starts.js'

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
