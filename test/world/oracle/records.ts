/** What a user expects Sluice to know of inputs: docs/guide/same-input.md as a program. It knows lines, and nothing of checksums. */
import type { Line, Load, Seen } from '../facts.js'

interface Part {
  run: string
  readonly from: number
  to: number
}

/** A file that was loaded, or whose load was begun. */
export interface Record {
  path: string
  inode: number | undefined
  lines: readonly Line[]
  /** Lines that were sent and are not settled. */
  pending: Line[]
  isOpen: boolean
  setting: string
  parts: Part[]
  /** Whether the user has forgotten its last run: its next lines get the ids that they had. */
  isCutShort?: boolean
  /** Whether an interrupted load may have known all of it, or nothing: beside others, or if the disk failed. */
  mayBeWhole?: boolean
}

export type Match =
  | { readonly kind: 'new' }
  | { readonly kind: 'known'; readonly record: Record }
  /** The load was begun, and the file is another one now. */
  | { readonly kind: 'unclear'; readonly record: Record }

const isSame = (one: Line | undefined, other: Line) => one?.n === other.n && one.v === other.v

/** Whether a file begins with these lines. */
export function begins(file: readonly Line[], lines: readonly Line[]): boolean {
  return lines.length > 0 && lines.every((line, at) => isSame(file[at], line))
}

export class Records {
  /** The record that was touched last comes first. */
  all: Record[] = []

  touch(record: Record): void {
    this.all = [record, ...this.all.filter(one => one !== record)]
  }

  drop(record: Record): void {
    this.all = this.all.filter(one => one !== record)
  }

  /** Finds what each input is: by its inode, then by its path, then by its content if the file of before is gone. */
  match(
    { disk }: Pick<Load, 'disk'>,
    inputs: readonly Seen[],
    taken: ReadonlySet<Record> = new Set(),
  ): Map<Seen, Match> {
    const found = new Map<Seen, Match>()
    const free = new Set(this.all.filter(one => one.lines.length > 0 && !taken.has(one)))
    // A file that was renamed and is no input of this load is nowhere, as far as Sluice knows.
    const isThere = ({ path, lines }: Record) =>
      disk.some(one => one.path === path && begins(one.lines, lines) && !isWrittenAnew(one, lines))
    const rules: ((file: Seen, record: Record) => boolean)[] = [
      (file, record) => record.inode !== undefined && record.inode === file.inode,
      (file, record) => record.path === file.path,
      (_, record) => !isThere(record),
    ]
    for (const rule of rules) {
      for (const file of inputs) {
        if (found.has(file)) continue
        const record = [...free].find(one => rule(file, one) && begins(file.lines, one.lines))
        if (record === undefined) continue
        free.delete(record)
        found.set(file, { kind: 'known', record })
      }
    }
    for (const file of inputs) {
      if (found.has(file)) continue
      const record = [...free].find(one => one.isOpen && (isFileOf(file, one) || (!isThere(one) && shares(file, one))))
      found.set(file, record === undefined ? { kind: 'new' } : { kind: 'unclear', record })
    }
    return found
  }
}

/** What was packed again with more lines has no byte of before, and the bracket at the end of a JSON document stands elsewhere. */
function isWrittenAnew({ path, lines }: Seen, before: readonly Line[]): boolean {
  return /\.(?:gz|bz2|zst|xz|br|json)$/.test(path) && lines.length > before.length
}

function isFileOf({ path, inode }: Seen, record: Record): boolean {
  return path === record.path || (inode !== undefined && inode === record.inode)
}

/** Whether a file holds lines of a load that was begun: it may be a part of it, or a copy. */
function shares({ lines }: Seen, { lines: begun }: Record): boolean {
  return lines.some(line => begun.some(one => isSame(one, line)))
}
