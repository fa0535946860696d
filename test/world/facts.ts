/** What the model and the oracle speak of: plain facts about documents, files and commands. It imports nothing. */

/** A document as it stands in an input. Its number is its own in a story, and `v` counts its editions. */
export interface Line {
  readonly n: number
  readonly v: number
  /** Whether it is no document: Sluice must reject it. */
  readonly isBad: boolean
}

/** Whether a document has a field that only some have. Its text fits no number. */
export function isRare(n: number): boolean {
  return n % 5 === 0
}

/** A file, or an object on a server. */
export interface Seen {
  readonly path: string
  readonly inode?: number
  readonly lines: readonly Line[]
  /** Whether the last line has no line end yet. */
  readonly isOpen: boolean
  /** When it was written last, as its folder shows it. */
  readonly writtenMs?: number
}

/** A document in the index. */
export interface Stored {
  readonly id: string
  readonly n: number
  readonly v: number
  readonly tag?: string
  /** Its fields, in their order, without the tag. */
  readonly fields: string
}

/** A record of a file of dead letters. */
export interface Dead {
  readonly id: string
  readonly n: number
  readonly isRepaired: boolean
  /** Whether it is a document that the mapping of its index does not fit. */
  readonly isMisfit: boolean
  readonly v: number
}

export interface Counts {
  readonly read: number
  readonly created: number
  readonly updated: number
  readonly deleted: number
  readonly noop: number
  readonly notFound: number
  readonly duplicate: number
  readonly rejected: number
  readonly skipped: number
  readonly unsent: number
  readonly unknown: number
}

/** How a command ended, as the user sees it. */
export interface Ended {
  readonly exit: number
  readonly run?: string
  /** The code of its failure. */
  readonly code?: string
  /** Counts of the whole run. */
  readonly counts?: Counts
  readonly thisProcess?: Counts
  /** Documents of earlier runs that it names as rejected and not replayed. */
  readonly unreplayed: number
  /** Everything that it said on stderr. */
  readonly said: string
  /** Nobody saw how it ended. */
  readonly isKilled?: true
  /** How a receiver answered the request with each input, by its path. No entry: it did not. */
  readonly answers?: ReadonlyMap<string, number>
}

/** What went wrong around a command. `killed`: nobody saw how it ended. */
export type Trouble =
  | 'none'
  | 'answers'
  | 'limit'
  | 'server'
  | 'filter'
  | 'key'
  | 'rights'
  | 'address'
  | 'node'
  | 'disk'
  | 'mapping'
  | 'behind'
  | 'index'
  | 'stopped'
  | 'killed'

export interface Load {
  /** The inputs, in the order of the command. */
  readonly inputs: readonly Seen[]
  /** All files that stand there, also those that the command does not name. */
  readonly disk: readonly Seen[]
  readonly op: string
  /** Everything that decides what is sent. */
  readonly setting: string
  readonly tag?: string
  /** How fields are edited, by the name of an option. */
  readonly edit?: string
  readonly isAgain: boolean
  /** Whether Sluice keeps what it knows of these inputs: not of stdin, and not without a state folder. */
  readonly isKept: boolean
  readonly isSpooled: boolean
  readonly isFollowed: boolean
  /** Whether the beginning of a file changes when the file grows. */
  readonly hasHead?: boolean
  /** Set if callers posted the inputs. `hasKeys`: with an `Idempotency-Key`, which is the same for the same lines. */
  readonly posted?: { readonly hasKeys: boolean }
  /** Whether the inputs are tables. `reconciles`: documents of deleted rows are deleted. */
  readonly isTable?: boolean
  readonly reconciles?: boolean
  /** Whether a job on a queue loads the inputs. */
  readonly isQueued?: boolean
  readonly runId?: string
  readonly maxRejected?: number
  readonly trouble: Trouble
  /** Whether somebody deleted the index meanwhile. */
  readonly indexLost?: 'deleted' | 'made anew'
  /** Whether some documents reach the index with a field that others have not. */
  readonly hasRare: boolean
  /** Whether the index takes no documents with the rare field any more: none of them was stored in it before. */
  readonly isNarrow: boolean
  readonly ended: Ended
}

/** What stands in the index and in the dead letters after a command. */
export interface After {
  readonly index: readonly Stored[]
  readonly dead: readonly Dead[]
  /** Whether an alias no longer leads to an index that it led to. */
  readonly isSwitched: boolean
}
