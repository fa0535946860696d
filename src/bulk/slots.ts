/**
 * The memory that bodies live in. Its size is the backpressure: no free slot, no reading. One slot is filled while the others
 * are being sent.
 */
export interface Slot {
  /** At least the pool's slot size; more after `reserve`. */
  bytes: Buffer
}

export class SlotPool {
  readonly #slotBytes: number
  readonly #free: Slot[] = []
  readonly #waiting: ((slot: Slot) => void)[] = []
  #unmade: number

  constructor(slots: number, slotBytes: number) {
    this.#slotBytes = slotBytes
    this.#unmade = slots
  }

  /** Waits for a free slot. Who holds it gives it back with `release`. */
  async acquire(): Promise<Slot> {
    const free = this.#free.pop()
    if (free !== undefined) return free
    if (this.#unmade > 0) {
      this.#unmade -= 1
      return { bytes: Buffer.allocUnsafeSlow(this.#slotBytes) }
    }
    return await new Promise(resolve => this.#waiting.push(resolve))
  }

  release(slot: Slot): void {
    // A document larger than a body got memory of its own, which is not kept.
    if (slot.bytes.length > this.#slotBytes) slot.bytes = Buffer.allocUnsafeSlow(this.#slotBytes)
    const next = this.#waiting.shift()
    if (next === undefined) this.#free.push(slot)
    else next(slot)
  }
}

/** Makes room for one document that is larger than a body. Of a slot that is too small nothing is kept. */
export function reserve(slot: Slot, bytes: number): void {
  if (slot.bytes.length < bytes) slot.bytes = Buffer.allocUnsafeSlow(bytes)
}
