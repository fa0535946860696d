import type { Batch, Input, Lines, Mark } from '../flow.js'
import type { EditSection } from '../options/load.js'
import type { BodyFramer, Feature, Framing, Started } from '../run/hooks.js'
import { DocumentEditor } from './document-editor.js'
import { type EditedLines, editLines } from './edit-lines.js'
import { openEditKernel } from './kernel/kernel.js'
import type { LineStarts } from './line-starts.js'
import { rulesOf } from './rules.js'
import { valueOf } from './values.js'

/** Edits documents between their format and their bodies, so that ids, routing and indices are those of the edited ones. */
export function editDocuments({ edits }: { readonly edits: EditSection | undefined }): Feature {
  return () => {
    if (edits === undefined) return undefined
    let facts: Known
    return {
      identify: plain => ({ ...plain, options: { ...plain.options, ...optionsOf(edits) } }),
      prepare: async ({ found }) => {
        facts = { now: found.began, names: namesOf(found) }
        await Promise.resolve()
      },
      frame: (framing, _ledger, inner) => editing(edits, facts, framing, inner(framing)),
    }
  }
}

interface Known {
  readonly now: string
  /** Names of inputs that differ from what they were when the run began. */
  readonly names: ReadonlyMap<number, string>
}

/** A resume sends the same bytes as before, also if a file has another name now. */
function namesOf({ plan }: Started['found']): ReadonlyMap<number, string> {
  const names = new Map<number, string>()
  for (const { source, known, by } of plan.inputs)
    if (known !== undefined && by === undefined && known.name !== source.name) names.set(source.id, known.name)
  return names
}

function optionsOf(edits: EditSection): Record<string, string> {
  const given = Object.entries(edits).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([name, value]) => [name, JSON.stringify(value)]))
}

function editing(edits: EditSection, { now, names }: Known, framing: Framing, inner: BodyFramer): BodyFramer {
  const rules = rulesOf(edits)
  const kernel = openEditKernel()
  const values = Object.values(edits.set ?? {})
  /** By the id of their input, until the mark behind its last line is known. */
  const moved = new Map<number, LineStarts>()

  function edited(input: Input, lines: Lines): EditedLines {
    const path = names.get(input.id) ?? input.name
    const texts = values.map(value => valueOf(value, { now, path }))
    kernel?.prepare(rules, texts)
    return editLines(lines, new DocumentEditor(rules, texts), kernel, framing.maxDocumentBytes)
  }

  /** Puts the marks of a batch back to where the bytes stood in the input. */
  function placed(batch: Batch): Batch {
    const ends = batch.ends.map(({ input, mark }) => ({ input, mark: placedMark(input, mark) }))
    return { ...batch, ends }
  }

  function placedMark(input: Input, mark: Mark): Mark {
    const starts = moved.get(input.id)
    if (mark.kind !== 'edited' || starts === undefined) return mark
    const offset = starts.startOf(mark.line)
    const tail = mark.tail > 0 ? starts.end - offset : 0
    if (starts.isPassed) moved.delete(input.id)
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
      const { lines: those, starts } = edited(input, lines)
      if (lines.kind === 'lines') moved.set(input.id, starts)
      for await (const batch of inner.frame(input, token, those)) yield placed(batch)
      starts.hasEnded = true
      if (starts.isPassed) moved.delete(input.id)
    },
  }
}
