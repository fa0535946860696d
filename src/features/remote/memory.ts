/** Limits the bytes that wait in memory, of all objects together. */
export class PartMemory {
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  /** Returns false if there is no room. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }

  give(bytes: number): void {
    this.#left += bytes
  }
}
