import { randomBytes } from 'node:crypto'
import { Mapping } from './mapping.js'

const slabBytes = 1 << 20
const gone = 0xffff_ffff

/** The result of writing or finding a document. `bytes`: the document as it was sent. Absent if it was deleted. */
export interface Stored {
  readonly version: number
  readonly seqNo: number
  readonly bytes: Buffer | undefined
}

/** Properties of an alias for one of its indices, as given. */
export type AliasProperties = Readonly<Record<string, unknown>>

/**
 * Keeps the documents of an index by id, byte for byte. Slabs hold the bytes and columns the facts. So a million small
 * documents take little more memory than their own size.
 */
export class Index {
  readonly name: string
  readonly uuid = randomBytes(16).toString('base64url')
  readonly createdAt = Date.now()
  readonly mapping: Mapping
  readonly settings: Record<string, unknown>
  readonly aliases = new Map<string, AliasProperties>()
  /** `index.blocks.write` */
  isWriteBlocked = false
  #rows = new Map<string, number>()
  #slabs: Buffer[] = []
  #used = slabBytes
  #slab = new Uint32Array(1024)
  #offset = new Uint32Array(1024)
  #length = new Uint32Array(1024)
  #version = new Float64Array(1024)
  /** Versions that no number holds exactly, by row. */
  readonly #largeVersions = new Map<number, bigint>()
  #seqNo = new Uint32Array(1024)
  #nextSeqNo = 0
  #deleted = 0

  constructor(name: string, mapping = new Mapping(), settings: Record<string, unknown> = {}) {
    this.name = name
    this.mapping = mapping
    this.settings = settings
  }

  get count(): number {
    return this.#rows.size - this.#deleted
  }

  /** Bytes of all documents that were ever stored. */
  get storedBytes(): number {
    return (this.#slabs.length - 1) * slabBytes + this.#used
  }

  get lastSeqNo(): number {
    return this.#nextSeqNo - 1
  }

  /** Returns the ids of existing documents, in the order in which they were first stored. */
  ids(): string[] {
    return [...this.#rows].flatMap(([id, row]) => (this.#length[row] === gone ? [] : [id]))
  }

  has(id: string): boolean {
    const row = this.#rows.get(id)
    return row !== undefined && this.#length[row] !== gone
  }

  /** The version of a document, or of its deletion. Undefined if there never was one. */
  lastVersionOf(id: string): bigint | undefined {
    const row = this.#rows.get(id)
    return row === undefined ? undefined : this.#exactVersion(row)
  }

  get(id: string): Stored | undefined {
    const row = this.#rows.get(id)
    if (row === undefined || this.#length[row] === gone) return undefined
    const from = this.#offset[row] ?? 0
    const bytes = this.#slabs[this.#slab[row] ?? 0]?.subarray(from, from + (this.#length[row] ?? 0))
    return { version: this.#version[row] ?? 0, seqNo: this.#seqNo[row] ?? 0, bytes }
  }

  /** Ids and documents that exist, as they were sent. */
  entries(): [id: string, bytes: Buffer, seqNo: number][] {
    return [...this.#rows.keys()].flatMap(id => {
      const { bytes, seqNo = 0 } = this.get(id) ?? {}
      return bytes === undefined ? [] : [[id, bytes, seqNo] as [string, Buffer, number]]
    })
  }

  /** Stores a copy of the bytes and returns the document's version. A deleted document continues its versions. `external`: the version to take. */
  put(id: string, bytes: Buffer, from: number, to: number, external?: bigint): number {
    const row = this.#row(id)
    if (this.#length[row] === gone) this.#deleted--
    this.#place(row, bytes, from, to)
    this.#seqNo[row] = this.#nextSeqNo++
    return this.#nextVersion(row, external)
  }

  /** The version of the deletion, and whether there was anything to delete. */
  delete(id: string, external?: bigint): { version: number; found: boolean } {
    const found = this.has(id)
    if (external === undefined && !this.#rows.has(id)) {
      this.#nextSeqNo++
      return { version: 1, found }
    }
    const isNew = !this.#rows.has(id)
    const row = this.#row(id)
    if (found || isNew) this.#deleted++
    this.#length[row] = gone
    this.#seqNo[row] = this.#nextSeqNo++
    return { version: this.#nextVersion(row, external), found }
  }

  #exactVersion(row: number): bigint {
    return this.#largeVersions.get(row) ?? BigInt(this.#version[row] ?? 0)
  }

  #nextVersion(row: number, external: bigint | undefined): number {
    const isLarge = this.#largeVersions.delete(row) || external !== undefined
    if (!isLarge) return (this.#version[row] = (this.#version[row] ?? 0) + 1)
    const next = external ?? this.#exactVersion(row) + 1n
    if (next > BigInt(Number.MAX_SAFE_INTEGER)) this.#largeVersions.set(row, next)
    return (this.#version[row] = Number(next))
  }

  #row(id: string): number {
    let row = this.#rows.get(id)
    if (row === undefined) {
      row = this.#rows.size
      this.#rows.set(id, row)
      if (row === this.#slab.length) this.#grow(row * 2)
    }
    return row
  }

  #place(row: number, bytes: Buffer, from: number, to: number): void {
    const size = to - from
    if (this.#used + size > slabBytes) {
      this.#slabs.push(Buffer.allocUnsafeSlow(Math.max(slabBytes, size)))
      this.#used = 0
    }
    const slab = this.#slabs.length - 1
    bytes.copy(this.#slabs[slab] as Buffer, this.#used, from, to)
    this.#slab[row] = slab
    this.#offset[row] = this.#used
    this.#length[row] = size
    this.#used += size
  }

  #grow(size: number): void {
    const longer = (column: Uint32Array): Uint32Array<ArrayBuffer> => {
      const copy = new Uint32Array(size)
      copy.set(column)
      return copy
    }
    this.#slab = longer(this.#slab)
    this.#offset = longer(this.#offset)
    this.#length = longer(this.#length)
    const versions = new Float64Array(size)
    versions.set(this.#version)
    this.#version = versions
    this.#seqNo = longer(this.#seqNo)
  }
}

/** The ids that an index held at an instant. Walks need no more. */
export interface Held {
  readonly index: string
  readonly ids: readonly string[]
}

/** Describes how an ingest pipeline changed a document. */
export interface Processed {
  readonly isDropped?: true
  readonly index?: string
  readonly id?: string
}

export type Pipeline = (document: Readonly<Record<string, unknown>>) => Processed

export interface PointInTime {
  readonly held: readonly Held[]
  /** `performance.now()` */
  expires: number
}
