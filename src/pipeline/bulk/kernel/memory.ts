import type { ReadMemory } from '../../../base/flow.js'
import { sumInPlace } from '../../../base/checksum/checksum.js'
import { INPUT_SLACK_BYTES, INPUT_START, SLACK_BYTES } from '../../../base/json/strict/layout.js'
import { type Memory, newMemory } from '../../../base/memory.js'
import { CHECKSUM, NAMES_BYTES } from './layout.js'

/** Bytes per read of a file. Twice as much would fall out of the CPU's second cache before it is framed. */
const READ_BYTES = 1 << 20
const PAGE_BYTES = 64 << 10
const MOST_PAGES = 65_536

/**
 * The only memory of the kernel. Its size is fixed, because growing would detach every view of it, also from under a
 * socket that writes.
 */
export interface KernelMemory {
  readonly memory: Memory
  /** Holds lines that come from other memory. A line that does not fit here does not fit a slot either. */
  readonly input: Buffer
  /** Files are read into this part and framed from it. */
  readonly reading: ReadMemory
  readonly slots: readonly Buffer[]
  /** The texts of action lines that lie in it, by their addresses. */
  readonly texts: Map<number, string>
}

/**
 * Returns undefined if the machine cannot provide the memory: the limit is 4 GiB, and address space may be rationed.
 */
export function kernelMemory(slots: number, slotBytes: number): KernelMemory | undefined {
  const inputBytes = Math.max(READ_BYTES, slotBytes)
  const inputStart = INPUT_START + NAMES_BYTES
  const readingStart = aligned(inputStart + inputBytes + INPUT_SLACK_BYTES)
  const readingStride = aligned(READ_BYTES + INPUT_SLACK_BYTES)
  const slotsStart = readingStart + 2 * readingStride
  const stride = aligned(slotBytes + SLACK_BYTES)
  const pages = Math.ceil((slotsStart + slots * stride) / PAGE_BYTES)
  if (pages > MOST_PAGES) return undefined
  const memory = newMemory(pages)
  if (memory === undefined) return undefined
  sumInPlace(memory, CHECKSUM)
  return {
    memory,
    input: Buffer.from(memory.buffer, inputStart, inputBytes),
    reading: {
      buffers: [
        Buffer.from(memory.buffer, readingStart, READ_BYTES),
        Buffer.from(memory.buffer, readingStart + readingStride, READ_BYTES),
      ],
      readers: 0,
    },
    slots: Array.from({ length: slots }, (_, slot) =>
      Buffer.from(memory.buffer, slotsStart + slot * stride, slotBytes),
    ),
    texts: new Map(),
  }
}

/** No two slots share a line of the CPU's cache. */
function aligned(address: number): number {
  return Math.ceil(address / 64) * 64
}

/**
 * How long the memory of a load that ended is kept for the next load of the process. New memory costs more than a short load: the
 * engine collects garbage at once if so much memory outside its heap appears.
 */
const KEPT_MS = 5_000

interface Idle {
  readonly memory: KernelMemory
  readonly slotBytes: number
  readonly timer: NodeJS.Timeout
}

/** One memory is enough for loads that follow each other. */
let idle: Idle | undefined

/** Returns the memory that was kept if it has this size, otherwise new memory: see `kernelMemory`. */
export function takeMemory(slots: number, slotBytes: number): KernelMemory | undefined {
  if (idle?.memory.slots.length !== slots || idle.slotBytes !== slotBytes) return kernelMemory(slots, slotBytes)
  const { memory, timer } = idle
  clearTimeout(timer)
  idle = undefined
  return memory
}

/** Keeps memory for a while, instead of the last one. The caller must not read it or write to it any more. */
export function keepMemory(memory: KernelMemory, slotBytes: number): void {
  clearTimeout(idle?.timer)
  const timer = setTimeout(() => (idle = undefined), KEPT_MS)
  idle = { memory, slotBytes, timer: timer.unref() }
}
