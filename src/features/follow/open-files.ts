/** Keeps the files open that grew last, so that their rest can be read if they are deleted. Closes the others. */

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
