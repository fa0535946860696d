/** An input while a run loads it: what its lines in the journal say. */
import type { Cursor, StoredFile } from '../../../base/flow.js'
import type { Committed } from '../../../pipeline/ledger/account.js'
import { type CheckpointInput, type FileIdentity, START } from '../checkpoint/checkpoint.js'
import { sentLine } from '../checkpoint/journal.js'
import { type ContentSum, identityOf } from '../inputs/content.js'
import type { PlannedInput } from './plan.js'

/** An input whose line is in the journal, with its last mark. */
export type KeptInput = { -readonly [K in keyof CheckpointInput]: CheckpointInput[K] } & {
  /** The file as it is read now. */
  readonly planned: PlannedInput
  /** Documents of earlier processes of the run. */
  readonly readBefore: number
  /** Of the lines that are read now, if they are not the stored bytes. */
  readonly lines: ContentSum | undefined
}

type Settled = NonNullable<ReturnType<Committed['inputs']['get']>>

/** Returns whether the run itself knew the input before. */
export function isOwn({ known, by }: PlannedInput): boolean {
  return known !== undefined && by === undefined
}

/** Begins to keep an input that the run did not know before. `since`: see `CheckpointInput`. `lines`: see `KeptInput`. */
export function keep(
  planned: PlannedInput,
  id: number,
  since: string | undefined,
  lines: ContentSum | undefined,
): KeptInput {
  const { source, token, from, start, read, known } = planned
  return {
    planned,
    readBefore: read,
    lines,
    id,
    since,
    name: source.name,
    status: 'begun',
    token,
    mark: from ?? START,
    start,
    read,
    hasStored: known?.hasStored ?? false,
    ...(source.address === undefined ? { file: planned.file ?? known?.file } : { address: source.address }),
    content: planned.content ?? known?.content,
    copy: source.copy?.id,
    ...(source.cursor === undefined ? {} : tableAt(source.cursor, planned, undefined)),
  }
}

/** Begins to keep an input that the run knew before, under its id. */
export function keepOwn(planned: PlannedInput, lines: ContentSum | undefined): KeptInput {
  const { id = 0, since } = planned.known ?? {}
  return keep(planned, id, since, lines)
}

/** Returns the line that says up to where documents of a file may be sent, if that is further than any process has sent before. */
export function noteSent(kept: KeptInput): string {
  const { file, address } = kept.planned.source
  if (address !== undefined) return noteLines(kept)
  if (file === undefined) return ''
  const { bytes = 0, stat = file.stat } = file.reading ?? {}
  // A decoder takes stored bytes long before it passes on their lines.
  const isFurther =
    kept.lines === undefined ? kept.file === undefined || kept.file.bytes < bytes : isAhead(kept, kept.lines)
  if (kept.file !== undefined && !isFurther) {
    kept.file = { ...kept.file, path: file.realPath, stat }
    return ''
  }
  const now = see(kept, file)
  return sentLine(kept.id, now.bytes, now.sum, now.state, kept.content)
}

/** The same of an input without a file. */
function noteLines(kept: KeptInput): string {
  if (kept.lines === undefined || !isAhead(kept, kept.lines)) return ''
  kept.content = kept.lines.identity()
  return sentLine(kept.id, 0, '', kept.content)
}

function isAhead({ content }: KeptInput, { bytes }: ContentSum): boolean {
  return content?.bytes === undefined || content.bytes < bytes
}

/** Takes the file and its content as far as they are read. Returns the file. */
function see(kept: KeptInput, file: StoredFile): FileIdentity {
  const now = identityOf(file)
  kept.file = now
  const head = file.reading?.head
  if (kept.lines !== undefined) kept.content = kept.lines.identity()
  else if (head !== undefined && file.isPacked === false) kept.content = { head }
  return now
}

/** Moves an input to where its documents are settled. */
export function moveTo(kept: KeptInput, settled: Settled): void {
  const { source } = kept.planned
  kept.mark = settled.mark ?? kept.mark
  kept.read = kept.readBefore + settled.read
  kept.hasStored ||= settled.hasStored
  if (settled.isFinished) kept.status = 'finished'
  if (settled.isFinished && source.file !== undefined) see(kept, source.file)
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
