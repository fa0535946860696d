/** Holds the objects of a run in little memory, because there may be very many, and fetches the next ones ahead. */
import type { FileTable } from '../../pipeline/source/stored-file.js'
import { type Fetching, fetchPart, type Part, PART_BYTES } from './part.js'
import type { PartMemory } from './memory.js'

interface ShelfParts extends Omit<Fetching, 'name'> {
  readonly table: FileTable
  readonly memory: PartMemory
  /** Ends everything. */
  readonly signal: AbortSignal
}

export class Shelf implements ShelfParts {
  readonly table: FileTable
  readonly memory: PartMemory
  readonly signal: AbortSignal
  readonly store: Fetching['store']
  readonly patience: Fetching['patience']
  readonly timeoutMs: number
  /** Objects of which the server sends no parts. */
  readonly wholes = new Set<number>()
  /** Objects that somebody else has seen, and that must be the same ones. */
  readonly pinned = new Set<number>()
  /** With which the checksum of an object continues. */
  readonly states = new Map<number, { readonly bytes: number; readonly state: string }>()
  /** First bytes of objects, until somebody has compared them. */
  readonly heads = new Map<number, Buffer>()
  /** Objects whose first bytes were loaded: what follows must be of the same ones. */
  readonly continued = new Set<number>()
  readonly #ahead = new Map<number, { readonly part: Promise<Part | undefined>; readonly bytes: number }>()

  constructor({ table, memory, signal, store, patience, timeoutMs }: ShelfParts) {
    this.table = table
    this.memory = memory
    this.signal = signal
    this.store = store
    this.patience = patience
    this.timeoutMs = timeoutMs
  }

  /** Begins to fetch the first part of an object, if there is memory for it. */
  fetchAhead(id: number): void {
    const { size } = this.table.statOf(id)
    const bytes = Math.min(PART_BYTES, size)
    if (bytes === 0 || this.wholes.has(id) || this.#ahead.has(id) || !this.memory.take(bytes)) return
    const { store, patience, timeoutMs, signal } = this
    const name = this.table.nameOf(id)
    const part = fetchPart({ store, name, patience, timeoutMs }, { from: 0, to: bytes, signal })
    part.catch(() => undefined) // the code that opens the object gets the reason
    this.#ahead.set(id, { part, bytes })
  }

  takeAhead(id: number): Promise<Part | undefined> | undefined {
    const ahead = this.#ahead.get(id)
    if (ahead === undefined) return undefined
    this.#ahead.delete(id)
    this.memory.give(ahead.bytes)
    return ahead.part
  }

  /** Forgets all objects. Their ids may be those of others. */
  clear(): void {
    for (const known of [this.wholes, this.heads, this.continued]) known.clear()
  }

  forget(id: number): void {
    this.table.readings.delete(id)
    this.table.packed.delete(id)
    this.states.delete(id)
    this.heads.delete(id)
    this.continued.delete(id)
  }
}
