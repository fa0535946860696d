/** Defines the state of a run on disk: all facts that a resume needs, and no secrets. */
import type { FileStat, Mark, Place } from '../../../base/flow.js'
import type { Counts, Receipt, Rejections } from '../../../pipeline/ledger/receipt.js'

export interface Checkpoint {
  readonly run: string
  /** `running` while a process works on the run, and also after a kill. */
  readonly status: 'running' | 'finished' | 'interrupted' | 'failed'
  /** ISO 8601. */
  readonly began: string
  /** When the last process began, if it continued the run. ISO 8601. */
  readonly since?: string | undefined
  readonly written: string
  readonly target: Target
  /** Where documents go, without the cluster: see `RunIdentity`. */
  readonly scope: string
  /** See `RunIdentity`. Default: a load. */
  readonly kind?: string | undefined
  /** The name that the user gave to the run (`--run-id`). */
  readonly named?: string | undefined
  /** The same for all runs of one command. */
  readonly key: string
  /** Inputs as the user named them, as absolute paths. */
  readonly sources: readonly string[]
  /** Options that change what Sluice sends for a document. */
  readonly options: Readonly<Record<string, string>>
  /** Runs whose rejected documents this run reads again from their inputs: see `nameOf`. Default: none. */
  readonly settles?: readonly string[] | undefined
  /** Whether documents behind the marks may be stored already. */
  readonly isDoubtful: boolean
  /** Inputs that Sluice has begun to read, or knows again. */
  readonly inputs: InputList
  /** How many inputs are not finished, also those that are not begun. */
  readonly left: number
  /** Counts of the documents before the marks. */
  readonly counts: Counts
  readonly rejections: readonly Rejections[]
  /**
   * The file's length for documents before the marks, and the mark of this process in later records. `earlier`: other files that earlier
   * processes wrote.
   */
  readonly deadLetters?: LettersFile & {
    readonly writer?: string | undefined
    readonly earlier?: readonly EarlierLetters[] | undefined
  }
  /** For a replay: the runs that wrote the dead letters that it has read. */
  readonly replays?: readonly string[] | undefined
  /** Set if an earlier process stopped at too many rejected documents: what the run had counted then. The limit counts anew from there. */
  readonly limitFrom?: Pick<Counts, 'read' | 'rejected'> | undefined
  /** How the last process ended the run. Absent while one works on it, and after a kill. */
  readonly ended?: RunEnd | undefined
}

/** Inputs in their order. There may be very many, so the list of a run on the disk makes each when somebody asks for it. An array is one, too. */
export interface InputList extends Iterable<CheckpointInput> {
  readonly length: number
  at(number: number): CheckpointInput | undefined
  /** Lets go of them: the run takes no more part. */
  forget?(): void
}

export interface LettersFile {
  readonly path: string
  readonly length: number
}

/** `documents`: how many of the rejected documents it holds. */
export interface EarlierLetters extends LettersFile {
  readonly documents: number
}

/** How a run ended: its receipt, or as much of one as is known. */
export interface RunEnd extends Omit<Partial<Receipt>, 'target' | 'status'> {
  readonly run: string
  /** `running` also after a kill. */
  readonly status: Checkpoint['status'] | Receipt['status']
  readonly command: string
  readonly began: string
  readonly target?: Partial<Receipt['target']>
  /** Set if `inputs` does not hold all of them. */
  readonly inputCount?: number
  /** Set if `undo` deleted all that was left of the run. */
  readonly undone?: RunUndone
}

/** When a run was undone (ISO 8601), and how many documents `undo` deleted then. */
export interface RunUndone {
  readonly at: string
  /** 0 for a replay: the documents count for the run that it was undone with. */
  readonly deleted: number
  /** For a replay: the run that had rejected its documents. Undo of that run deleted them. */
  readonly with?: string
  /** Set if some documents of the replay may still be there. */
  readonly isPart?: boolean
}

export interface Target {
  /** Absent if the user may not read the uuid. */
  readonly clusterUuid?: string
  readonly url: string
  /** For a guarded load: the fresh index. */
  readonly index: string
  /** Only for a guarded load: the alias to switch. */
  readonly alias?: string
  /** Uuid of the index. Absent for an alias or data stream, and before the index exists. */
  readonly indexUuid?: string
  /** Documents that were accepted before the uuid was known, and that nobody has looked for since. */
  readonly witnesses?: readonly Witness[]
  /** For an alias or data stream: its indices when the run began. */
  readonly behind?: readonly string[]
  /** Indices that stored documents under the name of an alias or data stream, and for a replay under any name. */
  readonly holders?: readonly IndexHolder[]
  /** Set if each document names its index: every index that took documents, how many, and its uuid if it is known. */
  readonly indices?: readonly NamedIndex[]
  /** Other indices that pipelines stored documents in. */
  readonly elsewhere?: readonly string[]
  /** For a replay: every name that stored a document, with the uuid if the name is an index. */
  readonly destinations?: readonly { readonly index: string; readonly indexUuid?: string }[]
}

/** Documents of one batch. At least one of them is in the index, if it is still the one that took them. */
export type Witness = readonly { readonly id: string; readonly routing?: string }[]

/** An index. `indexUuid` and `witnesses`: as in the target. */
export interface IndexHolder {
  readonly index: string
  readonly indexUuid?: string
  readonly witnesses?: readonly Witness[]
}

export interface NamedIndex extends IndexHolder {
  readonly documents: number
}

export interface CheckpointInput {
  /** Its number in the run. */
  readonly id: number
  readonly name: string
  readonly status: 'begun' | 'finished' | 'failed'
  /** When the process began that took it up, if an earlier process had begun the run. ISO 8601. */
  readonly since?: string | undefined
  readonly token: string
  readonly mark: Mark
  /**
   * Set if the run did not begin at the start of the input, because an earlier run loaded the part before. `wasRead`:
   * the earlier run also read that document, before its line had grown.
   */
  readonly start?: { readonly document: number; readonly wasRead: boolean } | undefined
  /** Documents and blank lines before the mark. */
  readonly read: number
  /** Whether a document of it is stored, or may be. */
  readonly hasStored: boolean
  /** Set if the input is a file. */
  readonly file?: FileIdentity | undefined
  /** Set if it is no file, but can be read again: its URL. */
  readonly address?: string | undefined
  /** The lines that were read of the input. Undefined if a file is short, or if Sluice does not know. */
  readonly content?: ContentIdentity | undefined
  /** Set if Sluice loaded a copy of its own: the copy's id. */
  readonly copy?: string | undefined
  /** For a table: where reading continues after the mark. Absent: at the start of the table. */
  readonly place?: Place | undefined
  /** For a table: its selected rows and fields. */
  readonly selection?: Readonly<Record<string, string>> | undefined
}

/** Shows whether a file still holds the bytes that were read from it. */
export interface FileIdentity {
  /** Absolute. Undefined in a state that an older Sluice wrote. */
  readonly path: string | undefined
  /** The file when it was opened. Undefined if it had changed just before: a later change may show the same times. */
  readonly stat: FileStat | undefined
  /** How many of its stored bytes Sluice has read, and their checksum. They hold at least all bytes before the mark. */
  readonly bytes: number
  readonly sum: string
  /** Only of an object on a server that is not read to its end: with it, the checksum continues without the bytes before. */
  readonly state?: string | undefined
  /** Instead of the checksum, in a state that an older Sluice wrote. */
  readonly old?: OldIdentity
}

/**
 * Shows whether another file holds the lines that were read, in whatever packing. They hold at least all lines before the mark.
 * Without `bytes`, they are the stored bytes, and `FileIdentity` has their number and checksum.
 */
export interface ContentIdentity {
  /** Checksum of the first 256 bytes. Absent if there are fewer. */
  readonly head?: string
  readonly bytes?: number
  readonly sum?: string
  /** Offset of the first line in the decoded bytes: see `Lines`. Default 0. */
  readonly at?: number
}

/** SHA-256 of the first bytes, and of up to 64 KiB before `end`. */
export interface OldIdentity {
  readonly size: number
  readonly inode: string
  readonly head: { readonly bytes: number; readonly sha256: string }
  readonly tail: { readonly end: number; readonly sha256: string }
}

export const START: Mark = { kind: 'lines', document: 1, line: 1, offset: 0, tail: 0 }

/** Returns a name that no other run has: the user may give the same name to several. */
export function runNameOf({ run, began }: Pick<Checkpoint, 'run' | 'began'>): string {
  return `${run} ${began}`
}

/** Returns the counts at which the limit of rejected documents starts if the run continues: see `limitFrom`. */
export function nextLimitFrom({ ended, counts, limitFrom }: Checkpoint): Checkpoint['limitFrom'] {
  const { read, rejected } = counts
  return ended?.failure?.code === 'TOO_MANY_REJECTED' ? { read, rejected } : limitFrom
}

/** Compares uuids, or URLs if one of the uuids is not known. */
export function isSameCluster(
  was: Pick<Target, 'clusterUuid' | 'url'>,
  now: Pick<Target, 'clusterUuid' | 'url'>,
): boolean {
  return was.clusterUuid !== undefined && now.clusterUuid !== undefined
    ? was.clusterUuid === now.clusterUuid
    : was.url === now.url
}

/** Returns the files that hold rejected documents of a run, the last one at the end. */
export function lettersOf({
  deadLetters,
  counts,
}: Pick<Checkpoint, 'deadLetters' | 'counts'>): readonly EarlierLetters[] {
  if (deadLetters === undefined) return []
  const { path, length, earlier = [] } = deadLetters
  const documents = earlier.reduce((left, one) => left - one.documents, counts.rejected)
  return length === 0 || documents <= 0 ? earlier : [...earlier, { path, length, documents }]
}

/** Returns the file of dead letters, with the other files that earlier processes of the run wrote. */
export function lettersIn(
  file: LettersFile,
  before: Pick<Checkpoint, 'deadLetters' | 'counts'> | undefined,
): NonNullable<Checkpoint['deadLetters']> {
  const earlier = before === undefined ? [] : lettersOf(before).filter(one => one.path !== file.path)
  return earlier.length === 0 ? file : { ...file, earlier }
}
