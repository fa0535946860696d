/** The state of a run as it is kept on disk: what a resume needs to know, and nothing that is secret. */
import type { FileLook, Mark, Place } from '../flow.js'
import type { Counts, Rejections } from '../ledger/receipt.js'
import { isObject, parseJson } from '../text/parse-json.js'

/** Changes with every change that an older Sluice would read wrongly. */
export const VERSION = 1

export interface Checkpoint {
  readonly version: typeof VERSION
  readonly run: string
  /** `running` while a process is at it, and for ever where that was killed. */
  readonly status: 'running' | 'finished' | 'interrupted' | 'failed'
  /** ISO 8601. */
  readonly began: string
  readonly written: string
  readonly target: Target
  /** As the user named them, absolute. */
  readonly sources: readonly string[]
  /** What decides what is sent for a document. */
  readonly options: Readonly<Record<string, string>>
  /** Whether documents behind the marks may be stored already. */
  readonly isDoubtful: boolean
  readonly inputs: readonly CheckpointInput[]
  /** Of what stands before the marks. */
  readonly counts: Counts
  readonly rejections: readonly Rejections[]
  /** What the file held for the documents before the marks, and what tells records that the same process wrote behind. */
  readonly deadLetters?: { readonly path: string; readonly length: number; readonly writer?: string | undefined }
}

export interface Target {
  /** Where it may be read. */
  readonly clusterUuid?: string
  readonly url: string
  /** Of a guarded load: the fresh index. */
  readonly index: string
  /** Of a guarded load: what is switched to the index. */
  readonly alias?: string
  /** Of the index itself: absent for an alias or data stream, and before there is an index. */
  readonly indexUuid?: string
  /** Of an alias or data stream: the indices behind it when the run began. */
  readonly behind?: readonly string[]
  /** Of a replay: every name that it stored a document under, with the uuid where that is an index. */
  readonly destinations?: readonly { readonly index: string; readonly indexUuid?: string }[]
}

export interface CheckpointInput {
  readonly name: string
  readonly status: 'waiting' | 'begun' | 'finished' | 'failed'
  readonly token: string
  readonly mark: Mark
  /**
   * Where the run began, if not at the start of the input: an earlier one loaded what stands before. `wasRead`: it read the
   * document of that number too, before its line had grown.
   */
  readonly start?: { readonly document: number; readonly wasRead: boolean }
  /** Documents and blank lines before the mark. */
  readonly read: number
  /** Absent for what cannot be read a second time. */
  readonly file?: FileIdentity
  /** Set if Sluice loaded a copy of its own: the copy's id. */
  readonly copy?: string
  /** Of a table: where reading goes on behind the mark. Absent: at its start. */
  readonly place?: Place
  /** Of a table: which of its rows, and of their fields. */
  readonly selection?: Readonly<Record<string, string>>
}

/** What tells whether a file still holds what was read from it. Offsets are of the bytes as they are stored. */
export interface FileIdentity extends FileLook {
  /** SHA-256 of up to 64 KiB that end at `end`: the mark, or where that is no offset of the file, its end when reading began. */
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
