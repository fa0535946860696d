import { type KernelMemory, kernelMemory } from './kernel/memory.js'

/**
 * The memory that bodies live in. Its size is the backpressure: no free slot, no reading. One slot is filled while the others
 * are being sent.
 */
export interface Slot {
  /** At least the pool's slot size; more after `reserve`. */
  bytes: Buffer
  /** The slot's own memory, which it has again when it is next acquired. */
  readonly own: Buffer
}

export class SlotPool {
  /** Where the slots lie, for the kernel that fills them; undefined where such memory is not to be had. */
  readonly memory: KernelMemory | undefined
  readonly #slotBytes: number
  readonly #free: Slot[] = []
  readonly #waiting: ((slot: Slot) => void)[] = []
  readonly #slots: number
  #made = 0

  constructor(slots: number, slotBytes: number) {
    this.#slots = slots
    this.#slotBytes = slotBytes
    this.memory = kernelMemory(slots, slotBytes)
  }

  /** Waits for a free slot. Who holds it gives it back with `release`. */
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
}

/** Makes room for one document that is larger than a body. Of a slot that is too small nothing is kept. */
export function reserve(slot: Slot, bytes: number): void {
  if (slot.bytes.length < bytes) slot.bytes = Buffer.allocUnsafeSlow(bytes)
}
