/** Reads from the first answer where documents go, and under which ids. A pipeline may change both. */
import { type Body, idOfItem, itemStarts } from './body.js'
import { filterPath } from './judge-items.js'
import { itemsIn } from '../cluster/answers.js'

export const filterPathOfFirst = `${filterPath},items.*._id,items.*._index`

export interface StoredAs {
  /** Whether a document was stored under another id than the one that was sent. */
  readonly otherId: boolean
  /** An index that by its name is neither the target nor behind a data stream of that name. */
  readonly elsewhere?: string
}

interface Item {
  _id?: string
  _index?: string
  status?: number
  failure_store?: string
}

export function readFirstAnswer(answer: Buffer, body: Body, index: string): StoredAs {
  const items = itemsIn<Item>(answer) ?? []
  const starts = itemStarts(body)
  const stored = items.map((item, at) => ({ item, at })).filter(({ item }) => isStored(item))
  const otherId = stored.some(({ item, at }) => item._id !== undefined && item._id !== idOfItem(body, starts, at))
  const elsewhere = stored.find(({ item }) => item._index !== undefined && !isOf(item._index, index))?.item._index
  return { otherId, ...(elsewhere === undefined ? {} : { elsewhere }) }
}

function isStored({ status = 0, failure_store: store }: Item): boolean {
  return status >= 200 && status < 300 && store !== 'used'
}

function isOf(found: string, index: string): boolean {
  return found === index || found.startsWith(`.ds-${index}-`)
}
