import { keepMemory, type KernelMemory, takeMemory } from './kernel/memory.js'

/**
 * One piece of the memory that bodies live in. The pool's size is the backpressure: without a free slot, nothing is
 * read. One slot is filled while the others are being sent.
 */
export interface Slot {
  /** Has at least the pool's slot size, and more after `reserve`. */
  bytes: Buffer
  /** The slot's own memory. It returns to the slot with the next `acquire`. */
  readonly own: Buffer
}

export class SlotPool implements Disposable {
  /** The memory of the slots, for the kernel. Undefined if the machine cannot provide it. */
  readonly memory: KernelMemory | undefined
  readonly #slotBytes: number
  readonly #free: Slot[] = []
  readonly #waiting: ((slot: Slot) => void)[] = []
  readonly #slots: number
  #made = 0

  constructor(slots: number, slotBytes: number) {
    this.#slots = slots
    this.#slotBytes = slotBytes
    this.memory = takeMemory(slots, slotBytes)
  }

  /** Waits for a free slot. The holder gives it back with `release`. */
  async acquire(): Promise<Slot> {
    const free = this.#free.pop()
    if (free !== undefined) return free
    if (this.#made < this.#slots) {
      const own = this.memory?.slots[this.#made] ?? Buffer.allocUnsafeSlow(this.#slotBytes)
      this.#made += 1
      return { bytes: own, own }
    }
    return await new Promise(resolve => this.#waiting.push(resolve))
  }

  release(slot: Slot): void {
    // A document larger than a body got memory of its own, which is not kept.
    slot.bytes = slot.own
    const next = this.#waiting.shift()
    if (next === undefined) this.#free.push(slot)
    else next(slot)
  }

  /** Leaves the memory to the next pool, unless it may still be in use. After this, no slot may be acquired. */
  [Symbol.dispose](): void {
    const { memory } = this
    if (memory?.reading.readers === 0 && this.#free.length === this.#made) keepMemory(memory, this.#slotBytes)
  }
}

/** Makes room for one document that is larger than a body. Drops the bytes in a slot that is too small. */
export function reserve(slot: Slot, bytes: number): void {
  if (slot.bytes.length < bytes) slot.bytes = Buffer.allocUnsafeSlow(bytes)
}

/**
 * Opens the memory for bodies. One body fills while the others are sent. Slots that are not needed take no memory.
 */
export function openSlots(
  { concurrency }: { readonly concurrency: number },
  { batchBytes }: { readonly batchBytes: number },
): SlotPool {
  return new SlotPool(concurrency + 1, batchBytes)
}
