/** The memory for the bodies of all current requests. It is taken once: garbage of this size would keep the collector busy. */
import type { Clock } from '../../base/flow.js'

const LEAST_BYTES = 8 << 10
/** Only small requests use this part, so that large ones cannot keep them out. */
const SMALL_BLOCK_BYTES = 128 << 10
const SMALL_BLOCKS = 16
/** A request needs some memory beside its body. That memory does not count here. */
const MOST_REQUESTS = 1000
/** A body that needs longer to arrive may have to make room for others. A large request waits as long for memory. */
const SLOW_MS = 10_000

/** The memory of one request. It belongs to others once it is closed. */
export interface Share {
  /** Returns a buffer of at least this size with the content of `before`, which it replaces. Returns undefined if there is too little memory. */
  grow(before: Buffer, bytes: number): Buffer | undefined
  /**
   * Grows the buffer of a large request that `grow` had no memory for. One such request at a time gets its turn: smaller ones get no more
   * of one block until the waiting request gets the whole block. Resolves to undefined if that takes too long.
   */
  wait(before: Buffer, bytes: number): Promise<Buffer | undefined>
  /** Notes that a body begins to arrive. `giveUp` ends it early, if others need its memory. */
  begin(giveUp: () => void): void
  /** Notes that nothing more arrives. */
  end(): void
  close(): void
}

interface Upload {
  readonly since: number
  readonly held: ReadonlyMap<Buffer, Arena>
  giveUp(): void
}

/** The large request that waits for a block. */
interface Waiting {
  readonly held: Map<Buffer, Arena>
  readonly block: Arena
  /** The buffer that grows. */
  readonly before: Buffer
  end(buffer?: Buffer): void
}

export class Room {
  readonly #largest: number
  readonly #small = new Arena(SMALL_BLOCK_BYTES, SMALL_BLOCKS)
  /** A compressed body of the largest size and its content fit in. */
  readonly #large: readonly Arena[]
  readonly #clock: Clock
  readonly #uploads = new Set<Upload>()
  #waiting: Waiting | undefined
  #requests = 0

  /** `largest`: the size of the largest buffer. */
  constructor(largest: number, clock: Clock) {
    this.#largest = largest
    this.#large = [new Arena(largest, 1), new Arena(largest, 1)]
    this.#clock = clock
  }

  /** Returns undefined if there are too many requests. */
  open(): Share | undefined {
    if (this.#requests === MOST_REQUESTS) return undefined
    this.#requests += 1
    const held = new Map<Buffer, Arena>()
    let upload: Upload | undefined
    return {
      grow: (before, bytes) => {
        const own = held.get(before)
        const extended = own?.extend(before, bytes)
        if (own !== undefined && extended !== undefined) {
          held.delete(before)
          held.set(extended, own)
          return extended
        }
        for (const arena of [this.#small, ...this.#large]) {
          const buffer = arena === this.#waiting?.block ? undefined : arena.take(bytes)
          if (buffer === undefined) continue
          held.set(buffer, arena)
          before.copy(buffer)
          held.delete(before)
          own?.giveBack(before)
          this.#noteFree()
          return buffer
        }
        this.#endSlow()
        return undefined
      },
      wait: async (before, bytes) => {
        const block = this.#blockFor(held, before, bytes)
        if (block === undefined) return undefined
        return await this.#turn({ held, block, before })
      },
      begin: giveUp => {
        upload = { since: this.#clock.now(), held, giveUp }
        this.#uploads.add(upload)
      },
      end: () => {
        if (upload !== undefined) this.#uploads.delete(upload)
      },
      close: () => {
        if (this.#waiting?.held === held) this.#waiting.end()
        for (const [buffer, arena] of held) arena.giveBack(buffer)
        this.#requests -= 1
        this.#noteFree()
      },
    }
  }

  /** Returns a block in which the request has nothing but the buffer that grows. */
  #blockFor(held: Upload['held'], before: Buffer, bytes: number): Arena | undefined {
    if (this.#waiting !== undefined || bytes <= SMALL_BLOCK_BYTES) return undefined
    const others = [...held].filter(([buffer]) => buffer !== before).map(([, arena]) => arena)
    const own = held.get(before)
    return [own, ...this.#large.toReversed()].find(
      arena => arena !== undefined && arena !== this.#small && !others.includes(arena),
    )
  }

  async #turn(its: Pick<Waiting, 'held' | 'block' | 'before'>): Promise<Buffer | undefined> {
    return await new Promise(resolve => {
      const over = new AbortController()
      const end = (buffer?: Buffer) => {
        if (over.signal.aborted) return
        this.#waiting = undefined
        over.abort()
        resolve(buffer)
      }
      this.#waiting = { ...its, end }
      this.#clock.sleep(SLOW_MS, over.signal).then(
        () => end(),
        () => undefined,
      )
      this.#noteFree()
    })
  }

  /** Gives the waiting request its block as soon as no other request uses it. */
  #noteFree(): void {
    if (this.#waiting === undefined) return
    const { held, block, before, end } = this.#waiting
    const own = held.get(before)
    if (block.used > (own === block ? 1 : 0)) return
    own?.giveBack(before)
    const buffer = block.take(this.#largest)
    held.delete(before)
    // The memory of `before` is free, but no request writes to it yet.
    if (buffer !== undefined) {
      before.copy(buffer)
      held.set(buffer, block)
    }
    end(buffer)
  }

  /** Ends the slow upload that holds most. The request that needs its memory now has to retry. */
  #endSlow(): void {
    const now = this.#clock.now()
    const slow = [...this.#uploads].filter(({ since }) => now - since > SLOW_MS)
    const [largest] = slow.toSorted((one, other) => bytesOf(other) - bytesOf(one))
    largest?.giveUp()
  }
}

function bytesOf({ held }: Upload): number {
  return [...held.keys()].reduce((sum, { length }) => sum + length, 0)
}

/** Some blocks of memory. Each is halved as often as a smaller buffer needs it. Two free halves become one again. */
class Arena {
  readonly #memory: ArrayBuffer
  /** Number of buffers in use. */
  used = 0
  /** Offsets of free buffers by size, largest first. */
  readonly #free = new Map<number, Set<number>>()

  constructor(blockBytes: number, blocks: number) {
    let halvings = 0
    while (LEAST_BYTES * 2 ** halvings < blockBytes) halvings += 1
    const size = Math.ceil(blockBytes / 2 ** halvings) * 2 ** halvings
    // The system provides a page of this memory only when something is written to it.
    this.#memory = new ArrayBuffer(size * blocks)
    for (let halved = 0; halved <= halvings; halved += 1) this.#free.set(size / 2 ** halved, new Set())
    for (let block = 0; block < blocks; block += 1) this.#free.get(size)?.add(block * size)
  }

  take(bytes: number): Buffer | undefined {
    const sizes = [...this.#free.keys()].filter(size => size >= bytes).toReversed()
    const [wanted = 0] = sizes
    for (let size of sizes) {
      const free = this.#free.get(size)
      const [at] = free ?? []
      if (at === undefined) continue
      free?.delete(at)
      while (size > wanted) {
        size /= 2
        this.#free.get(size)?.add(at + size)
      }
      this.used += 1
      return Buffer.from(this.#memory, at, wanted)
    }
    return undefined
  }

  /** Returns a larger buffer in the same place. Undefined: what follows is in use. */
  extend({ byteOffset: at, length }: Buffer, bytes: number): Buffer | undefined {
    let size = length
    for (; size < bytes; size *= 2)
      if ((at / size) % 2 !== 0 || this.#free.get(size)?.has(at + size) !== true) return undefined
    if (!this.#free.has(size)) return undefined
    for (let half = length; half < size; half *= 2) this.#free.get(half)?.delete(at + half)
    return Buffer.from(this.#memory, at, size)
  }

  giveBack({ byteOffset, length }: Buffer): void {
    this.used -= 1
    let [at, size] = [byteOffset, length]
    for (;;) {
      const isFirst = (at / size) % 2 === 0
      const other = isFirst ? at + size : at - size
      // A whole block has no other half.
      if (!this.#free.has(size * 2) || this.#free.get(size)?.delete(other) !== true) break
      at = Math.min(at, other)
      size *= 2
    }
    this.#free.get(size)?.add(at)
  }
}
