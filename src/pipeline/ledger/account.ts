/** Accounts of a run: counts of documents, what became of each input, and how far all of that is committed. */
import { outcomes } from '../../base/operation.js'
import type { Batch, Input, Mark, Origin, Outcome, Refused, Rejected, RejectionLimit } from '../../base/flow.js'
import type { Counts, InputReceipt, Rejections } from './receipt.js'
import { type Failure, failure } from '../../base/failure/failure.js'
import { tooManyFields } from '../../base/failure/index-errors.js'

type Reason = Pick<Refused, 'status' | 'type' | 'reason'> & { readonly origin?: Origin | undefined }

/** More kinds of refusal than this are counted together. */
const MAX_KINDS = 100

const names = ['read', ...outcomes] as const

export const nothing = Object.fromEntries(names.map(name => [name, 0])) as unknown as Counts

/** How many of those that were read have an outcome that stays. */
export function settledOf({ read, unsent, unknown }: Pick<Counts, 'read' | 'unsent' | 'unknown'>): number {
  return read - unsent - unknown
}

/** Returns the counts of an outcome. Rejected documents are counted with their reasons. */
export function countsIn(outcome: Outcome): Counts {
  return addCounts(nothing, { ...outcome, rejected: 0 })
}

/** Counts of documents, the rejected ones by what they were refused for. */
export class Account {
  readonly #counts = { ...nothing }
  readonly #rejections = new Map<string, Rejections & { documents: number }>()

  get counts(): Counts {
    return { ...this.#counts }
  }

  /** Returns rejections by number of documents, largest first. */
  get rejections(): readonly Rejections[] {
    // Copies, because these counts still grow.
    return Array.from(this.#rejections.values(), kind => ({ ...kind })).toSorted(
      (one, other) => other.documents - one.documents,
    )
  }

  add(more: Partial<Counts>): void {
    for (const name of names) this.#counts[name] += more[name] ?? 0
  }

  reject(refused: Reason): void {
    const { origin: first } = refused
    this.rejectAlike({ ...kindOf(refused), documents: 1, ...(first === undefined ? {} : { first }) })
  }

  rejectAlike({ documents, ...kind }: Rejections): void {
    this.#counts.rejected += documents
    const key = kind.type === 'others' ? 'others' : keyOf(kind)
    const known = this.#rejections.get(key)
    if (known !== undefined) known.documents += documents
    else if (this.#rejections.size < MAX_KINDS) this.#rejections.set(key, { ...kind, documents })
    else {
      const others = this.#rejections.get('others') ?? { status: 0, type: 'others', documents: 0 }
      others.documents += documents
      this.#rejections.set('others', others)
    }
  }
}

/** Counts rejected documents by what they were refused for. */
export function kindsOf(rejected: Rejected): readonly Rejections[] {
  const all: Iterable<Reason> = rejected.reasons ?? rejected
  let number = 0
  const kinds = new Map<string, Rejections & { documents: number }>()
  let last: { readonly of: Reason; readonly kind: { documents: number } } | undefined
  for (const refused of all) {
    const { status, type, reason } = refused
    const isLikeLast =
      last?.of.type === type &&
      last.of.status === status &&
      ((status === 0 && type !== OF_ROW) || last.of.reason === reason)
    if (last === undefined || !isLikeLast) {
      const kind = { ...kindOf(refused), documents: 0 }
      const key = keyOf(kind)
      const known = kinds.get(key)
      if (known === undefined) {
        const first = refused.origin ?? rejected.originOf?.(number)
        kinds.set(key, first === undefined ? kind : Object.assign(kind, { first }))
      }
      last = { of: refused, kind: known ?? kind }
    }
    last.kind.documents += 1
    number += 1
  }
  return [...kinds.values()]
}

function kindOf({ status, type, reason }: Reason): Omit<Rejections, 'documents'> {
  if (status === 0 && type === OF_ROW) return { status, type, ...rowProblem(reason) }
  // What was never sent was refused for no field of the index.
  const field = status === 0 ? undefined : fieldOf(reason)
  const limit = status === 0 ? undefined : FULL.exec(reason)?.[1]
  return {
    status,
    type,
    ...(field === undefined ? {} : { field }),
    ...(limit === undefined ? {} : { reason: tooManyFields(limit) }),
  }
}

const FULL = /^(?:\[-?\d+:-?\d+\] )?(?:failed to parse: )?Limit of total fields \[(\d+)\] has been exceeded/

const OF_ROW = 'DOCUMENT_ROW_INVALID'

/** Returns what is wrong with a row, without the number of its line, and the cell that a dry run shows. */
function rowProblem(text: string): Pick<Rejections, 'reason' | 'value'> {
  const [, problem = '', value] = ROW.exec(text) ?? []
  const [, cells = 0, columns = 0] = COUNTED.exec(problem) ?? []
  const compared = Number(cells) < Number(columns) ? 'fewer' : 'more'
  const reason = columns === 0 ? problem : `${compared} cells than the ${columns} columns`
  return { ...(reason === '' ? {} : { reason }), ...(value === undefined ? {} : { value }) }
}

const ROW = /^not a row of the table: (?:line|row) \d+(?:,|:| has| is)? (.*?)(?:, such as (.*))?$/s
const COUNTED = /^(\d+) cells? for (\d+) columns?$/

function keyOf({ status, type, field = '', reason = '' }: Omit<Rejections, 'documents'>): string {
  return `${status} ${type} ${field} ${reason}`
}

/** A receipt of an older Sluice may lack counts. */
export function addCounts(one: Counts, other: Partial<Counts>): Counts {
  const sum = { ...one }
  for (const name of names) sum[name] += other[name] ?? 0
  return sum
}

/** Two accounts of the same run as one. */
export function sumOf(
  one: { readonly counts: Counts; readonly rejections: readonly Rejections[] },
  other: { readonly counts: Counts; readonly rejections: readonly Rejections[] },
): Account {
  const sum = new Account()
  for (const { counts, rejections } of [one, other]) {
    // Every rejected document is of some kind: they are counted with it.
    sum.add({ ...counts, rejected: 0 })
    for (const kind of rejections) sum.rejectAlike(kind)
  }
  return sum
}

/**
 * The field that Elasticsearch names in a reason. Names only, and only where its own words name one: behind them a reason may
 * quote values, and those of a pipeline's author are values all through.
 */
export function fieldOf(reason: string): string | undefined {
  return NAMED.exec(reason)?.[1]
}

const NAMED =
  /^(?:\[-?\d+:-?\d+\] )?(?:failed to parse field|object mapping for \[[^\]]*\] tried to parse field|(?:mapping set to strict, )?dynamic introduction of) \[([^\]]{1,200})\]/

const statuses = ['unfinished', 'finished', 'failed'] as const

/** A load may have very many inputs, which are alike. */
const MOST_READ_AS = 1000

/** Keeps what became of each input that was begun. There may be very many, so it makes an object only when somebody asks. */
export class InputAccounts {
  /** Why inputs could not be read to their end, by their ids. */
  readonly failures = new Map<number, Failure>()
  /** By the ids of the inputs, as the other two. */
  readonly #inputs: (Input | undefined)[] = []
  /** Of the first ones. */
  readonly #readAs = new Map<number, string>()
  #statuses = new Uint8Array(64)
  #lines = new Float64Array(64)

  begin(input: Input): void {
    const { id } = input
    this.#reserve(id)
    this.#inputs[id] = input
    this.#statuses[id] = statuses.indexOf('unfinished')
    this.#lines[id] = 0
  }

  /** Returns false if the input was not begun. */
  end({ id }: Input, broken?: Failure): boolean {
    if (this.#inputs[id] === undefined) return false
    this.#statuses[id] = statuses.indexOf(broken === undefined ? 'finished' : 'failed')
    if (broken !== undefined) this.failures.set(id, broken)
    return true
  }

  readAs(id: number, found: string): void {
    if (this.#readAs.size < MOST_READ_AS) this.#readAs.set(id, found)
  }

  read(id: number, lines: number): void {
    if (this.#inputs[id] !== undefined) this.#lines[id] = (this.#lines[id] ?? 0) + lines
  }

  /** Returns undefined for an input that was not begun. */
  of(id: number): InputReceipt | undefined {
    const input = this.#inputs[id]
    if (input === undefined) return undefined
    const status = statuses[this.#statuses[id] ?? 0] ?? 'unfinished'
    const failure = this.failures.get(id)
    const readAs = this.#readAs.get(id)
    return {
      name: input.name,
      status,
      read: this.#lines[id] ?? 0,
      ...(readAs === undefined ? {} : { readAs }),
      ...(failure === undefined ? {} : { failure }),
    }
  }

  /** In the order of their ids. */
  all(): InputReceipt[] {
    return this.#inputs.flatMap((_, id) => this.of(id) ?? [])
  }

  #reserve(id: number): void {
    if (id < this.#statuses.length) return
    this.#statuses = grown(this.#statuses, new Uint8Array(2 * id))
    this.#lines = grown(this.#lines, new Float64Array(2 * id))
  }
}

function grown<T extends Uint8Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}

/** Returns TOO_MANY_REJECTED if the limit allows fewer. `shareFrom`: documents that must be read before a share counts. Default 0. */
export function tooManyRejected(
  limit: RejectionLimit | undefined,
  { read, rejected }: Pick<Counts, 'read' | 'rejected'>,
  shareFrom = 0,
): Failure | undefined {
  if (limit === undefined) return undefined
  if (typeof limit === 'number') {
    return rejected > limit ? failure('TOO_MANY_REJECTED', { rejected, limit }) : undefined
  }
  const tooMany = read >= shareFrom && rejected * 100 > Number.parseFloat(limit) * read
  return tooMany ? failure('TOO_MANY_REJECTED', { rejected, limit: `${limit} of ${read}` }) : undefined
}

/** The state of the committed prefix. */
export interface Committed {
  readonly counts: Counts
  readonly rejections: readonly Rejections[]
  /** Inputs that have come further since the last commit. */
  readonly inputs: ReadonlyMap<number, CommittedInput>
  /** Length of the dead letters that covers them and nothing else. */
  readonly deadLetters: number
  /** Another process must send something again, so this one commits nothing more. */
  readonly isBroken: boolean
  /** Whether documents behind the prefix may be stored. */
  readonly isDoubtful: boolean
  /** Indices, aliases and data streams that took a replayed document. */
  readonly destinations: ReadonlySet<string>
  /** If each document names its index: how many each index took. */
  readonly indices: DocumentsByIndex
}

export type DocumentsByIndex = ReadonlyMap<string, number>

export interface CommittedInput {
  readonly mark?: Mark
  /** Documents and blank lines. */
  readonly read: number
  /** Whether a document of it is stored, or may be. */
  readonly hasStored: boolean
  /** Read to its end, and everything in it settled. */
  readonly isFinished: boolean
}

/** Returns how many documents each index took. Called while the documents are in memory. */
export function takenByIndex({ indices = new Map() }: Batch, { rejected }: Outcome): DocumentsByIndex {
  const taken = new Map(indices)
  if (taken.size > 0)
    for (const { index } of rejected) if (index !== undefined) taken.set(index, (taken.get(index) ?? 0) - 1)
  return taken
}
