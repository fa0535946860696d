import type { Batch, Origin, Refused, Rejected } from '../../base/flow.js'
import { conditionAtEnd } from '../../base/text/condition.js'
import {
  addressIn,
  type Body,
  copyItems,
  documentIn,
  itemLines,
  itemStarts,
  operationOf,
  ordinalOf,
  type RefusedItem,
  type RefusedItems,
} from './send.js'

/** Refused items of one body, which were sent `attempts` times. */
interface Part {
  readonly body: Body
  readonly refused: RefusedItems
  readonly attempts: number
  /** Set if the body is a copy, of these items only. */
  readonly isCopy?: true
}

type Documents = Pick<Batch, 'operation' | 'addressed' | 'condition' | 'script' | 'origins'>

/**
 * Documents of a batch that were rejected. They stay in the memory of the batch, and the reasons in the answer: as objects, the
 * documents of a few large bodies would take more memory than all the rest of a load.
 */
export class RejectedItems implements Rejected {
  readonly #batch: Documents
  #parts: readonly Part[]
  #originOf: ((ordinal: number) => Origin) | undefined

  constructor(batch: Documents, parts: readonly Part[] = [], originOf?: (ordinal: number) => Origin) {
    this.#batch = batch
    this.#parts = parts
    this.#originOf = originOf
  }

  get length(): number {
    return this.#parts.reduce((sum, { refused }) => sum + refused.length, 0)
  }

  add(body: Body, refused: RefusedItems, attempts: number): void {
    if (refused.length === 0) return
    this.#originOf ??= this.#batch.origins()
    this.#parts = [...this.#parts, { body, refused, attempts }]
  }

  /** Copies the documents from the memory of the batch. The caller calls this before bytes there change: origins follow from them, too. */
  beforeChange(): void {
    this.#originOf ??= this.#batch.origins()
    this.#parts = this.#parts.map(copied)
  }

  kept(): Rejected {
    return new RejectedItems(this.#batch, this.#parts.map(copied), this.#originOf)
  }

  get reasons(): NonNullable<Rejected['reasons']> {
    const parts = this.#parts
    const originOf = (body: Body, at: number) => this.#origin(body, at)
    return {
      *[Symbol.iterator]() {
        for (const part of parts)
          for (const [at, { status, type, reason }] of each(part))
            yield {
              status,
              type,
              reason,
              get origin() {
                return originOf(part.body, at)
              },
            }
      },
    }
  }

  *[Symbol.iterator](): Iterator<Refused> {
    const { operation: ofBatch, addressed, condition: hasCondition, script } = this.#batch
    for (const part of this.#parts) {
      const { body, attempts } = part
      const starts = itemStarts(body)
      for (const [at, { status, type, reason }] of each(part)) {
        const { action, document } = itemLines(body, starts, at)
        const operation = operationOf(ofBatch, action, document)
        const { _id: id, _index: index, routing } = addressIn(action)
        const condition = hasCondition === undefined ? undefined : conditionAtEnd(action.toString('latin1'))
        yield {
          status,
          type,
          reason,
          document: documentIn(document, operation, script),
          operation,
          ...(id === undefined ? {} : { id }),
          ...(routing === undefined ? {} : { routing }),
          ...(condition === undefined ? {} : { condition }),
          ...(index === undefined ? {} : { index }),
          ...(addressed === undefined ? {} : { destination: addressed.destination }),
          origin: this.#origin(body, at),
          attempts: attempts + (addressed?.attempts(ordinalOf(body, at)) ?? 0),
        }
      }
    }
  }

  #origin(body: Body, at: number): Origin {
    return (this.#originOf as (ordinal: number) => Origin)(ordinalOf(body, at))
  }
}

/** Yields each refused item with its place in the body. */
function* each({ refused, isCopy }: Part): Generator<readonly [number, RefusedItem]> {
  let at = 0
  for (const one of refused) {
    yield [isCopy === true ? at : one.item, one]
    at += 1
  }
}

function copied(part: Part): Part {
  const { body, refused, attempts, isCopy } = part
  if (isCopy === true) return part
  const items = refused.items ?? Array.from(refused, ({ item }) => item)
  return { body: copyItems(body, items), refused, attempts, isCopy: true }
}
