import { giveKernelBack, LOADED_BYTES, type Kernel, type CsvTable, takeKernel } from './kernel/kernel.js'
import type { LineWriter } from './line-writer.js'
import type { Rows } from './rows.js'

/** Writes the rows of an input that are usual. The caller settles each row at which it stops. */
export interface UsualRows {
  /** The memory that lines are written to. */
  readonly memory: Buffer
  /** Writes rows until one is unusual, or not whole. Returns true if the lines must be taken first. */
  write(rows: Rows, writer: LineWriter): boolean
  /** Gives the memory back. */
  close(): void
}

/** Returns undefined if there is no kernel for such a table. */
export function openUsualRows(table: CsvTable): UsualRows | undefined {
  const kernel = takeKernel(table)
  return kernel === undefined ? undefined : new ByKernel(kernel)
}

class ByKernel implements UsualRows {
  readonly memory: Buffer
  readonly #kernel: Kernel
  /** The bytes that the kernel holds: a part of the rows' own. */
  #bytes: Buffer | undefined
  #from = 0
  #to = 0

  constructor(kernel: Kernel) {
    this.#kernel = kernel
    this.memory = kernel.output
  }

  write(rows: Rows, writer: LineWriter): boolean {
    const { bytes, reach, utf8To } = rows
    if (rows.to >= reach) return false
    if (writer.memory !== this.memory) return true
    for (;;) {
      const at = rows.to
      const isUtf8 = at < utf8To
      const most = isUtf8 ? utf8To : reach
      if (bytes !== this.#bytes || at < this.#from || at >= this.#to) this.#load(bytes, at, most)
      const { takenTo, lines, end, stop } = this.#kernel.write(at - this.#from, writer.filled, isUtf8)
      writer.fillTo(end)
      rows.pass(this.#from + takenTo, lines)
      if (stop === 'row') return false
      // The caller writes a line that does not fit into empty memory.
      if (stop === 'full') return end > 0
      // The caller also takes a row that is longer than the kernel's input, and finds out whether the last one is whole.
      if (this.#to === most || rows.to === this.#from) return false
      this.#load(bytes, rows.to, most)
    }
  }

  close(): void {
    giveKernelBack(this.#kernel)
  }

  #load(bytes: Buffer, from: number, most: number): void {
    this.#bytes = bytes
    this.#from = from
    this.#to = Math.min(most, from + LOADED_BYTES)
    this.#kernel.load(bytes, from, this.#to)
  }
}
