/** Keeps the files open that grew last, so that their rest can be read if they are deleted. Closes the others. */
import type { FileHandle } from 'node:fs/promises'

/** Files that stay open. Those that are being read count, and are not closed. */
const MOST_OPEN = 64

export interface KeptOpen {
  readonly isBusy: boolean
  close(): Promise<void>
}

export class OpenFiles {
  /** The file that was used longest ago comes first. */
  readonly #open = new Set<KeptOpen>()

  get size(): number {
    return this.#open.size
  }

  /** Notes that a file is used, and closes the one that was used longest ago if there are too many. */
  async used(file: KeptOpen): Promise<void> {
    this.#open.delete(file)
    this.#open.add(file)
    if (this.#open.size <= MOST_OPEN) return
    const oldest = [...this.#open].find(one => !one.isBusy && one !== file)
    await oldest?.close()
  }

  closed(file: KeptOpen): void {
    this.#open.delete(file)
  }
}

/** Returns where the line behind the last line feed of [from, to) begins. Undefined if no line ends there. */
export async function lastLineEnd(handle: FileHandle, from: number, to: number): Promise<number | undefined> {
  const buffer = Buffer.allocUnsafe(Math.min(LOOK_BYTES, Math.max(0, to - from)))
  for (let end = to; end > from;) {
    const start = Math.max(from, end - LOOK_BYTES)
    const { bytesRead } = await handle.read(buffer, 0, end - start, start)
    const at = buffer.subarray(0, bytesRead).lastIndexOf(LINE_FEED)
    if (at !== -1) return start + at + 1
    end = start
  }
  return undefined
}

const LOOK_BYTES = 64 << 10
const LINE_FEED = 0x0a
