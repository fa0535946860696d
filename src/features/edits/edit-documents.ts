import type { EditSection } from '../../options/load.js'
import type { BodyFramer, Feature, Framing } from '../../run/loop/hooks.js'
import { frameRewritten, namesOf } from '../../run/loop/moved-lines.js'
import { DocumentEditor } from './document-editor.js'
import { editLines } from './edit-lines.js'
import { openEditKernel } from './kernel/kernel.js'
import { rulesOf } from './rules.js'
import { editedValue } from './values.js'

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

function optionsOf(edits: EditSection): Record<string, string> {
  const given = Object.entries(edits).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([name, value]) => [name, JSON.stringify(value)]))
}

function editing(edits: EditSection, { now, names }: Known, framing: Framing, inner: BodyFramer): BodyFramer {
  const rules = rulesOf(edits)
  const kernel = openEditKernel()
  const values = Object.values(edits.set ?? {})
  return frameRewritten(inner, (input, lines) => {
    const path = names.get(input.id) ?? input.name
    const texts = values.map(value => editedValue(value, { now, path }))
    kernel?.prepare(rules, texts)
    return editLines(lines, new DocumentEditor(rules, texts), kernel, framing.maxDocumentBytes)
  })
}
