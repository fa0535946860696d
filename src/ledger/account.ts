import type { Refused } from '../flow.js'
import type { Counts, Rejections } from './receipt.js'

/** More kinds of refusal than this are counted together. */
const MAX_KINDS = 100

export const nothing: Counts = {
  read: 0,
  created: 0,
  updated: 0,
  deleted: 0,
  noop: 0,
  duplicate: 0,
  rejected: 0,
  skipped: 0,
  unsent: 0,
  unknown: 0,
}

/** How many of those that were read have an outcome that stays. */
export function settledOf({ read, unsent, unknown }: Pick<Counts, 'read' | 'unsent' | 'unknown'>): number {
  return read - unsent - unknown
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
    return [...this.#rejections.values()].toSorted((one, other) => other.documents - one.documents)
  }

  add(more: Partial<Counts>): void {
    for (const name of Object.keys(nothing) as (keyof Counts)[]) this.#counts[name] += more[name] ?? 0
  }

  reject({ status, type, reason }: Pick<Refused, 'status' | 'type' | 'reason'>): void {
    const field = fieldOf(reason)
    this.rejectAlike({ status, type, ...(field === undefined ? {} : { field }), documents: 1 })
  }

  rejectAlike({ documents, ...kind }: Rejections): void {
    this.#counts.rejected += documents
    const key = kind.type === 'others' ? 'others' : `${kind.status} ${kind.type} ${kind.field ?? ''}`
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
