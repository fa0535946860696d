import type { Operation } from './action-line.js'
import { type Fault, errorObject } from './answers.js'
import type { FilterPath } from './filter-path.js'

/** The outcome of one item. */
export type Written =
  | { readonly index: string; readonly id: string | null; readonly fault: Fault }
  | {
      readonly index: string
      readonly id: string
      readonly version: number
      readonly result: string
      readonly seqNo: number
      readonly status: number
      readonly refreshed?: boolean
      readonly failureStore?: 'used'
    }

export interface ItemWriter {
  add(operation: Operation, written: Written): void
  /** The body of the answer. */
  finish(tookMs: number): string
}

const shards = { total: 2, successful: 1, failed: 0 }

/** Writes the answer to a bulk request in the order of its items, as far as `filter_path` lets it through. */
export function itemWriter(filter: FilterPath | undefined): ItemWriter {
  const items: string[] = []
  const fast = new Map<Operation, (written: Exclude<Written, { fault: Fault }>) => string>()
  let errors = false
  return {
    add(operation, written) {
      if ('fault' in written) {
        errors = true
        push(operation, refusedItem(written))
        return
      }
      if (written.refreshed || written.failureStore) return push(operation, storedItem(written))
      let write = fast.get(operation)
      if (!write) fast.set(operation, (write = compileItem(operation, filter)))
      const item = write(written)
      if (item !== '') items.push(item)
    },
    finish(tookMs) {
      const parts = []
      if (filter?.keeps('errors') ?? true) parts.push(`"errors":${errors}`)
      if (filter?.keeps('took') ?? true) parts.push(`"took":${tookMs}`)
      if (items.length > 0) parts.push(`"items":[${items.join(',')}]`)
      return `{${parts.join(',')}}`
    },
  }

  function push(operation: Operation, item: Record<string, unknown>): void {
    const whole = { items: [{ [operation]: item }] }
    const kept = filter ? (filter.apply(whole) as typeof whole | undefined) : whole
    if (kept) items.push(JSON.stringify(kept.items[0]))
  }
}

/** The same item, but in the failure store of its data stream. */
export function failureStoreItem(written: Exclude<Written, { fault: Fault }>): Written {
  return { ...written, index: `.fs-${written.index}-2025.05.01-000002`, failureStore: 'used' }
}

function refusedItem({ index, id, fault }: Extract<Written, { fault: Fault }>): Record<string, unknown> {
  return { _index: index, _id: id, status: fault.status, error: errorObject(fault) }
}

function storedItem(written: Exclude<Written, { fault: Fault }>): Record<string, unknown> {
  const { index, id, version, result, seqNo, status, refreshed, failureStore } = written
  return {
    _index: index,
    _id: id,
    _version: version,
    result,
    ...(refreshed && { forced_refresh: true }),
    _shards: shards,
    _seq_no: seqNo,
    _primary_term: 1,
    ...(failureStore && { failure_store: failureStore }),
    status,
  }
}

/** A writer for stored items of one operation: what the filter keeps is worked out once. */
function compileItem(
  operation: Operation,
  filter: FilterPath | undefined,
): (written: Exclude<Written, { fault: Fault }>) => string {
  const keeps = (...names: string[]): boolean => filter?.keeps('items', operation, ...names) ?? true
  const keepsShards = Object.keys(shards).every(name => keeps('_shards', name))
  const [index, id, version, result, seqNo, term, status] = [
    '_index',
    '_id',
    '_version',
    'result',
    '_seq_no',
    '_primary_term',
    'status',
  ].map(name => keeps(name))
  return written => {
    let members = ''
    if (index) members += `,"_index":${JSON.stringify(written.index)}`
    if (id) members += `,"_id":${JSON.stringify(written.id)}`
    if (version) members += `,"_version":${written.version}`
    if (result) members += `,"result":"${written.result}"`
    if (keepsShards) members += ',"_shards":{"total":2,"successful":1,"failed":0}'
    if (seqNo) members += `,"_seq_no":${written.seqNo}`
    if (term) members += ',"_primary_term":1'
    if (status) members += `,"status":${written.status}`
    return members === '' ? '' : `{"${operation}":{${members.slice(1)}}}`
  }
}
