/** Defines the state of a run on disk: all facts that a resume needs, and no secrets. */
import type { FileLook, Mark, Place } from '../flow.js'
import type { Counts, Rejections } from '../ledger/receipt.js'
import { isObject, parseJson } from '../text/parse-json.js'

/** Changes with every change that an older Sluice would read wrongly. */
export const VERSION = 1

export interface Checkpoint {
  readonly version: typeof VERSION
  readonly run: string
  /** `running` while a process works on the run, and also after a kill. */
  readonly status: 'running' | 'finished' | 'interrupted' | 'failed'
  /** ISO 8601. */
  readonly began: string
  readonly written: string
  readonly target: Target
  /** Inputs as the user named them, as absolute paths. */
  readonly sources: readonly string[]
  /** Options that change what Sluice sends for a document. */
  readonly options: Readonly<Record<string, string>>
  /** Whether documents behind the marks may be stored already. */
  readonly isDoubtful: boolean
  readonly inputs: readonly CheckpointInput[]
  /** Counts of the documents before the marks. */
  readonly counts: Counts
  readonly rejections: readonly Rejections[]
  /** The file's length for documents before the marks, and the mark of this process in later records. */
  readonly deadLetters?: { readonly path: string; readonly length: number; readonly writer?: string | undefined }
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
  /** For an alias or data stream: its indices when the run began. */
  readonly behind?: readonly string[]
  /** For a replay: every name that stored a document, with the uuid if the name is an index. */
  readonly destinations?: readonly { readonly index: string; readonly indexUuid?: string }[]
}

export interface CheckpointInput {
  readonly name: string
  readonly status: 'waiting' | 'begun' | 'finished' | 'failed'
  readonly token: string
  readonly mark: Mark
  /**
   * Set if the run did not begin at the start of the input, because an earlier run loaded the part before. `wasRead`:
   * the earlier run also read that document, before its line had grown.
   */
  readonly start?: { readonly document: number; readonly wasRead: boolean }
  /** Documents and blank lines before the mark. */
  readonly read: number
  /** Absent if the input cannot be read twice. */
  readonly file?: FileIdentity
  /** Set if Sluice loaded a copy of its own: the copy's id. */
  readonly copy?: string
  /** For a table: where reading continues after the mark. Absent: at the start of the table. */
  readonly place?: Place
  /** For a table: its selected rows and fields. */
  readonly selection?: Readonly<Record<string, string>>
}

/** Shows whether a file still holds the bytes that were read from it. Offsets are of the stored bytes. */
export interface FileIdentity extends FileLook {
  /**
   * SHA-256 of up to 64 KiB before `end`. `end` is the mark, or the end of the file when reading began if the mark is
   * no offset of the file.
   */
  readonly tail: { readonly end: number; readonly sha256: string }
}

/** The problem with a text that is no checkpoint of this version, or the checkpoint. */
export function parseCheckpoint(text: string): Checkpoint | string {
  const value = parseJson(text)
  if (value === undefined) return 'it is not JSON'
  const version = isObject(value) ? value['version'] : undefined
  if (typeof version === 'number' && version > VERSION) return `a newer Sluice wrote it (version ${version})`
  return fits(value, shape) ? (value as Checkpoint) : 'it is broken: fields are missing or have the wrong type'
}

type Shape = 'string' | 'number' | 'boolean' | { readonly [field: string]: Shape } | readonly [Shape]

const counts = {
  read: 'number',
  created: 'number',
  updated: 'number',
  deleted: 'number',
  noop: 'number',
  duplicate: 'number',
  rejected: 'number',
  skipped: 'number',
  unsent: 'number',
  unknown: 'number',
} as const satisfies Record<keyof Counts, Shape>

/** Fields with a question mark may be missing. */
const shape: Shape = {
  version: 'number',
  run: 'string',
  status: 'string',
  began: 'string',
  written: 'string',
  target: {
    'clusterUuid?': 'string',
    url: 'string',
    index: 'string',
    'alias?': 'string',
    'indexUuid?': 'string',
    'behind?': ['string'],
    'destinations?': [{ index: 'string', 'indexUuid?': 'string' }],
  },
  sources: ['string'],
  options: {},
  isDoubtful: 'boolean',
  inputs: [
    {
      name: 'string',
      status: 'string',
      token: 'string',
      mark: { kind: 'string', document: 'number', line: 'number', offset: 'number', tail: 'number' },
      'start?': { document: 'number', wasRead: 'boolean' },
      read: 'number',
      'copy?': 'string',
      'place?': {},
      'selection?': {},
      'file?': {
        size: 'number',
        inode: 'string',
        isCompressed: 'boolean',
        head: { bytes: 'number', sha256: 'string' },
        tail: { end: 'number', sha256: 'string' },
      },
    },
  ],
  counts,
  rejections: [{ status: 'number', type: 'string', documents: 'number' }],
  'deadLetters?': { path: 'string', length: 'number', 'writer?': 'string' },
}

function fits(value: unknown, wanted: Shape): boolean {
  if (typeof wanted === 'string') return typeof value === wanted
  if (isList(wanted)) return Array.isArray(value) && value.every(one => fits(one, wanted[0]))
  if (!isObject(value)) return false
  return Object.entries(wanted).every(([name, kind]) => {
    const field = name.replace('?', '')
    return (field !== name && value[field] === undefined) || fits(value[field], kind)
  })
}

function isList(wanted: Shape): wanted is readonly [Shape] {
  return Array.isArray(wanted)
}
