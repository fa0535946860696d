/** Learns under which ids documents are stored, and in which indices: a pipeline may change both. */
import { type BulkItem, resultsIn } from '../../cluster/bulk-items.js'
import { addressIn, type Body, itemLines, itemStarts } from '../send.js'

export interface PlacesOptions {
  /** Whether an answer of before has shown which ids the cluster stores, and in which indices. Default false. */
  readonly knowsPlaces?: boolean
  /** Whether a pipeline may choose the index of any document, so that each answer must show it. Default false. */
  readonly followsPlaces?: boolean
  /** Reports what Sluice cannot promise for this target, each once. */
  onDoubt?(message: string): void
  /** Hears of each other index that stored a document, before the document is settled. */
  onElsewhere?(index: string): void
}

/** The fields that a request asks for, besides the status of its items. */
interface Asking {
  readonly fields: string
  readonly isFirst: boolean
}

interface Sent {
  readonly body: Body
  readonly index: string
  /** Whether each action line names its index. */
  readonly isNamed: boolean
}

/** Items of the first answer whose ids are looked into. Each takes microseconds, and a pipeline treats most documents alike. */
const LOOKED_AT = 1000

export class Places {
  readonly #options: PlacesOptions
  /** Returns whether an index is behind a name. */
  readonly #isBehind: (index: string, name: string) => Promise<boolean>
  #first: 'none' | 'asked' | 'read'
  #follows: boolean
  #isTold = false
  /** Whether an index is another one than the name that was asked for. */
  readonly #known = new Map<string, Promise<boolean>>()

  constructor(options: PlacesOptions, isBehind: (index: string, name: string) => Promise<boolean>) {
    this.#options = options
    this.#isBehind = isBehind
    this.#first = options.knowsPlaces === true ? 'read' : 'none'
    this.#follows = options.followsPlaces === true
  }

  ask(): Asking {
    const isFirst = this.#first === 'none'
    if (isFirst) this.#first = 'asked'
    const index = isFirst || this.#follows ? ',items.*._index' : ''
    return { fields: isFirst ? `,items.*._id${index}` : index, isFirst }
  }

  async read({ fields, isFirst }: Asking, answer: Buffer, { body, index, isNamed }: Sent): Promise<void> {
    if (fields === '') return
    if (isFirst) this.#first = 'read'
    const most = this.#follows ? body.items : Math.min(LOOKED_AT, body.items)
    const { otherId, elsewhere } = placesIn(answer, { body, index, isNamed: isNamed || isFirst }, most)
    if (isFirst && otherId)
      this.#options.onDoubt?.(
        'documents do not keep their ids (does a pipeline set _id?): if an answer is lost, a document may be stored twice, and verify and undo may not find it',
      )
    for (const [found, instead] of elsewhere) if (await this.#isElsewhere(found, instead)) this.#note(found, instead)
  }

  /** The request has ended. Without an answer, the next one asks the same. */
  end({ isFirst }: Asking): void {
    if (isFirst && this.#first === 'asked') this.#first = 'none'
  }

  #note(found: string, instead: string): void {
    this.#follows = true
    this.#options.onElsewhere?.(found)
    if (this.#isTold) return
    this.#isTold = true
    this.#options.onDoubt?.(
      `documents go to ${found} instead of ${instead} (does a pipeline reroute them?): if an answer is lost, and the pipeline then chooses another index, a document is stored twice`,
    )
  }

  async #isElsewhere(found: string, instead: string): Promise<boolean> {
    const pair = `${found} ${instead}`
    const known = this.#known.get(pair) ?? this.#isBehind(found, instead).then(isBehind => !isBehind)
    this.#known.set(pair, known)
    return await known
  }
}

interface StoredAs {
  /** Whether a document was stored under another id than the one that was sent. */
  readonly otherId: boolean
  /** Indices that by their names are neither the target nor behind a data stream of that name, and what was asked for instead. */
  readonly elsewhere: ReadonlyMap<string, string>
}

/** Reads from an answer where documents go, and under which ids. */
export function placesIn(answer: Buffer, { body, index, isNamed }: Sent, most: number): StoredAs {
  const starts = isNamed ? itemStarts(body, most) : undefined
  let otherId = false
  const elsewhere = new Map<string, string>()
  let at = 0
  for (const item of resultsIn(answer)) {
    if (at === most) break
    if (isThere(item)) {
      const { _id: id, _index: instead = index } =
        starts === undefined ? {} : addressIn(itemLines(body, starts, at).action)
      otherId ||= item.status !== CONFLICT && item.id !== undefined && item.id !== id
      if (item.index !== undefined && !isOf(item.index, instead)) elsewhere.set(item.index, instead)
    }
    at += 1
  }
  return { otherId, elsewhere }
}

const CONFLICT = 409

/** Returns whether the document is in the index that the item names. After a lost answer, a conflict shows that, too. */
function isThere({ status = 0, failureStore: store }: BulkItem): boolean {
  return ((status >= 200 && status < 300) || status === CONFLICT) && store !== 'used'
}

function isOf(found: string, index: string): boolean {
  return found === index || found.startsWith(`.ds-${index}-`)
}
