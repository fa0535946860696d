import type { ReadMemory } from '../../flow.js'
import { INPUT_SLACK_BYTES, INPUT_START, SLACK_BYTES } from './layout.js'
import { type Memory, webAssembly } from './web-assembly.js'

/** A file is read so many bytes at a time. Twice as much would not stay in the CPU's second cache until it is framed. */
const READ_BYTES = 1 << 20
const PAGE_BYTES = 64 << 10
const MOST_PAGES = 65_536

/**
 * The one memory that the kernel works in. Of fixed size, because growing would detach every view of it, also from under a
 * socket that is writing.
 */
export interface KernelMemory {
  readonly memory: Memory
  /** Where lines are put that are to be framed and lie elsewhere. A line that does not fit here fits no slot either. */
  readonly input: Buffer
  /** Where a file may be read to, and framed from. */
  readonly reading: ReadMemory
  readonly slots: readonly Buffer[]
}

/** Undefined where the machine has no such memory: 4 GiB are the limit, and address space may be rationed. */
export function kernelMemory(slots: number, slotBytes: number): KernelMemory | undefined {
  const inputBytes = Math.max(READ_BYTES, slotBytes)
  const readingStart = aligned(INPUT_START + inputBytes + INPUT_SLACK_BYTES)
  const readingStride = aligned(READ_BYTES + INPUT_SLACK_BYTES)
  const slotsStart = readingStart + 2 * readingStride
  const stride = aligned(slotBytes + SLACK_BYTES)
  const pages = Math.ceil((slotsStart + slots * stride) / PAGE_BYTES)
  if (pages > MOST_PAGES) return undefined
  const memory = newMemory(pages)
  if (memory === undefined) return undefined
  return {
    memory,
    input: Buffer.from(memory.buffer, INPUT_START, inputBytes),
    reading: [
      Buffer.from(memory.buffer, readingStart, READ_BYTES),
      Buffer.from(memory.buffer, readingStart + readingStride, READ_BYTES),
    ],
    slots: Array.from({ length: slots }, (_, slot) =>
      Buffer.from(memory.buffer, slotsStart + slot * stride, slotBytes),
    ),
  }
}

/** No two slots share a line of the CPU's cache. */
function aligned(address: number): number {
  return Math.ceil(address / 64) * 64
}

function newMemory(pages: number): Memory | undefined {
  if (webAssembly === undefined) return undefined
  try {
    // Pages that nobody touches take no memory.
    return new webAssembly.Memory({ initial: pages, maximum: pages })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
