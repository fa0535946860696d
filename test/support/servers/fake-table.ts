/** A table in memory that is read as the platform's are: all of it by id, then what changed meanwhile, in the order of the changes. */
import { type Failure, SluiceError } from '../../../src/base/failure/failure.js'
import type { Place, Cursor, Source } from '../../../src/base/flow.js'
import type { Platform } from '../../../src/features/tables/open-platform.js'

interface Row {
  readonly sys_id: string
  readonly n: number
  /** A tick of the table's own clock. */
  readonly updated: number
}

interface Reading {
  readonly phase: 'whole' | 'changes'
  /** The id, or tick, that was read last. */
  readonly after: string | number
  /** The tick at which the reading of the whole began. */
  readonly began: number
  readonly since?: number
}

export class FakeTable {
  readonly name: string
  readonly rows = new Map<string, Row>()
  readonly pageSize: number
  selection: Readonly<Record<string, string>> = {}
  /** Called before each page; what it throws is what the reading meets. */
  beforePage: (page: number) => unknown = () => undefined
  /** Cursor that were given away. */
  given = 0
  /** Up to which row it was asked for a place: what lies before is forgotten. */
  settled = 0
  #tick = 0

  constructor(name: string, pageSize = 10) {
    this.name = name
    this.pageSize = pageSize
  }

  put(number: number, n = number): void {
    this.#tick += 1
    const id = String(number).padStart(32, '0')
    this.rows.set(id, { sys_id: id, n, updated: this.#tick })
  }

  putAll(count: number, from = 1): void {
    for (let number = from; number < from + count; number += 1) this.put(number)
  }

  /** One reading at a time. */
  source(id = 0): Source {
    let reached: { readonly document: number; readonly place: Reading }[] = []
    let mayRepeat = false
    let total: number | undefined
    const cursor: Cursor = {
      selection: this.selection,
      placeAt: document => {
        this.settled = document - 1
        reached = reached.slice(reached.findLastIndex(one => one.document <= document))
        return { ...reached[0]?.place }
      },
      after: ({ after }) => ({ phase: 'changes', after, began: 0, since: after }),
      since: ({ since }) => (typeof since === 'number' ? `tick ${since}` : undefined),
      get total() {
        return total
      },
      get mayRepeat() {
        return mayRepeat
      },
    }
    const open = async function* (this: FakeTable, signal: AbortSignal, _?: number, from?: Place) {
      let place = (from as unknown as Reading | undefined) ?? { phase: 'whole', after: '', began: this.#tick }
      let document = 1
      reached = [{ document, place }]
      total = this.#behind(place).length
      for (let page = 1; ; page += 1) {
        await this.beforePage(page)
        signal.throwIfAborted()
        const found = this.#behind(place).slice(0, this.pageSize)
        const last = found.at(-1)
        if (last === undefined && place.phase === 'changes') return
        mayRepeat = place.phase === 'changes'
        place =
          last === undefined
            ? { ...place, phase: 'changes', after: place.began }
            : { ...place, after: place.phase === 'whole' ? last.sys_id : last.updated }
        document += found.length
        // A page that is settled to its last row leaves nothing of it to be read again.
        reached.push({ document, place })
        this.given += found.length
        yield Buffer.from(found.map(row => `${JSON.stringify(row)}\n`).join(''))
      }
    }
    return { id, name: `servicenow:${this.name}`, cursor, open: open.bind(this) }
  }

  #behind({ phase, after }: Reading): Row[] {
    const rows = [...this.rows.values()]
    return phase === 'whole'
      ? rows.filter(row => row.sys_id > String(after)).toSorted((a, b) => (a.sys_id < b.sys_id ? -1 : 1))
      : rows.filter(row => row.updated > Number(after)).toSorted((a, b) => a.updated - b.updated)
  }
}

/** A platform of such tables; `refuses`: when it is probed. */
export function fakePlatform(tables: readonly FakeTable[], refuses?: Failure): Platform {
  return {
    instance: {
      display: 'https://instance.example',
      call: async () => await Promise.reject(new Error('a table in memory answers no calls')),
      [Symbol.asyncDispose]: async () => await Promise.resolve(),
    },
    sources: tables.map((table, id) => table.source(id)),
    traffic: { connections: 1, bytesSent: 10, bytesReceived: 100 },
    probe: async () => {
      if (refuses !== undefined) throw new SluiceError(refuses)
      return await Promise.resolve(['reached the platform'])
    },
  }
}
