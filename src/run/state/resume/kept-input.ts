/** An input while a run loads it: what its lines in the journal say. */
import type { Cursor } from '../../../base/flow.js'
import type { Committed } from '../../../pipeline/ledger/committed-prefix.js'
import { type CheckpointInput, START } from '../checkpoint/checkpoint.js'
import { sentLine } from '../inputs/journal.js'
import { identityOf } from '../inputs/known-inputs.js'
import type { PlannedInput } from './plan.js'

/** An input whose line is in the journal, with its last mark. */
export type KeptInput = { -readonly [K in keyof CheckpointInput]: CheckpointInput[K] } & {
  /** The file as it is read now. */
  readonly planned: PlannedInput
  /** Documents of earlier processes of the run. */
  readonly readBefore: number
}

type Settled = NonNullable<ReturnType<Committed['inputs']['get']>>

/** Returns whether the run itself knew the input before. */
export function isOwn({ known, by }: PlannedInput): boolean {
  return known !== undefined && by === undefined
}

/** Begins to keep an input that the run did not know before. `since`: see `CheckpointInput`. */
export function keep(planned: PlannedInput, id: number, since: string | undefined): KeptInput {
  const { source, token, from, start, read, known } = planned
  return {
    planned,
    readBefore: read,
    id,
    since,
    name: source.name,
    status: 'begun',
    token,
    mark: from ?? START,
    start,
    read,
    hasStored: known?.hasStored ?? false,
    file: planned.file ?? known?.file,
    copy: source.copy?.id,
    ...(source.cursor === undefined ? {} : tableAt(source.cursor, planned, undefined)),
  }
}

/** Begins to keep an input that the run knew before, under its id. */
export function keepOwn(planned: PlannedInput): KeptInput {
  const { id = 0, since } = planned.known ?? {}
  return keep(planned, id, since)
}

/** Returns the line that says up to where documents of a file may be sent, if that is further than any process has sent before. */
export function noteSent(kept: KeptInput): string {
  const { file } = kept.planned.source
  if (file === undefined) return ''
  const { bytes = 0, stat = file.stat } = file.reading ?? {}
  if (kept.file !== undefined && kept.file.bytes >= bytes) {
    kept.file = { ...kept.file, path: file.realPath, stat }
    return ''
  }
  kept.file = identityOf(file)
  return sentLine(kept.id, kept.file.bytes, kept.file.sum, kept.file.state)
}

/** Moves an input to where its documents are settled. */
export function moveTo(kept: KeptInput, settled: Settled): void {
  const { source } = kept.planned
  kept.mark = settled.mark ?? kept.mark
  kept.read = kept.readBefore + settled.read
  kept.hasStored ||= settled.hasStored
  if (settled.isFinished) kept.status = 'finished'
  if (settled.isFinished && source.file !== undefined) kept.file = identityOf(source.file)
  else noteSent(kept)
  if (source.cursor !== undefined) Object.assign(kept, tableAt(source.cursor, kept.planned, settled))
}

/** Returns where the reading of a table continues. The table counts its rows from where this process began. */
function tableAt(
  cursor: Cursor,
  { from = START, place, isLoaded }: PlannedInput,
  settled: Settled | undefined,
): Pick<CheckpointInput, 'place' | 'selection'> {
  const isReached = !isLoaded && (settled?.mark !== undefined || settled?.isFinished === true)
  const at = isReached ? cursor.placeAt((settled.mark ?? from).document - from.document + 1) : place
  return { selection: cursor.selection, ...(at === undefined ? {} : { place: at }) }
}
