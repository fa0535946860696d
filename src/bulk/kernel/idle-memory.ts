/**
 * Keeps the memory of a load that ended for the next load of the process. New memory costs more than a short load: for so many
 * bytes outside its heap, the engine collects garbage at once.
 */
import { type KernelMemory, kernelMemory } from './memory.js'

/** Whoever loads again and again does so sooner. */
const KEPT_MS = 5_000

interface Idle {
  readonly memory: KernelMemory
  readonly slotBytes: number
  readonly timer: NodeJS.Timeout
}

/** One is enough for loads that follow each other. */
let idle: Idle | undefined

/** Returns the memory that was kept if it has this size, otherwise new memory: see `kernelMemory`. */
export function takeMemory(slots: number, slotBytes: number): KernelMemory | undefined {
  if (idle?.memory.slots.length !== slots || idle.slotBytes !== slotBytes) return kernelMemory(slots, slotBytes)
  const { memory, timer } = idle
  clearTimeout(timer)
  idle = undefined
  return memory
}

/** Keeps memory for a while, instead of the last one. Nobody may read it or write to it any more. */
export function keepMemory(memory: KernelMemory, slotBytes: number): void {
  clearTimeout(idle?.timer)
  const timer = setTimeout(() => (idle = undefined), KEPT_MS)
  idle = { memory, slotBytes, timer: timer.unref() }
}
