/** What an index may hold if Sluice makes the ids: how often each document stands in it. */
import type { Line, Stored } from '../facts.js'
import type { Expected } from './expected.js'

export class Counted implements Expected {
  readonly #least = new Map<string, number>()
  readonly #most = new Map<string, number>()

  /** How often each may be sent under ids that it had. */
  readonly #again = new Map<string, number>()

  begin(lines: readonly Line[], isCopy = false): void {
    for (const line of lines) {
      if (line.isBad) continue
      const again = this.#again.get(keyOf(line)) ?? 0
      if (again > 0 && !isCopy) this.#again.set(keyOf(line), again - 1)
      else add(this.#most, keyOf(line), 1)
    }
  }

  resent(lines: readonly Line[]): void {
    for (const line of lines) {
      if (line.isBad) continue
      add(this.#most, keyOf(line), 1)
      add(this.#again, keyOf(line), 1)
    }
  }

  forgetIds(): void {
    this.#again.clear()
  }

  finish(lines: readonly Line[]): void {
    for (const line of lines) if (!line.isBad) add(this.#least, keyOf(line), 1)
  }

  atLeastOnce(lines: readonly Line[]): void {
    for (const line of lines)
      if (!line.isBad && (this.#least.get(keyOf(line)) ?? 0) === 0) this.#least.set(keyOf(line), 1)
  }

  takeBack(lines: readonly Line[], isSure: boolean): void {
    for (const line of lines) {
      const key = keyOf(line)
      this.#least.set(key, Math.max(0, (this.#least.get(key) ?? 0) - 1))
      if (isSure) this.#most.set(key, Math.max(0, (this.#most.get(key) ?? 0) - 1))
    }
  }

  repaired(lines: readonly Line[]): void {
    for (const { n, v } of lines) {
      add(this.#least, `${n} ${v}`, 1)
      add(this.#most, `${n} ${v}`, 1)
    }
  }

  lost(): void {
    this.#least.clear()
    this.#most.clear()
    this.#again.clear()
  }

  check(index: readonly Stored[]): string[] {
    const seen = new Map<string, number>()
    for (const { n, v } of index) add(seen, `${n} ${v}`, 1)
    const problems: string[] = []
    for (const key of new Set([...seen.keys(), ...this.#least.keys()])) {
      const [least, most, times] = [this.#least.get(key) ?? 0, this.#most.get(key) ?? 0, seen.get(key) ?? 0]
      const what = times < least ? 'lost' : 'doubled'
      if (times < least || times > most)
        problems.push(`${what}: document ${key} is there ${times} times, and not ${least} to ${most} times`)
    }
    return problems
  }
}

function keyOf({ n, v }: Line): string {
  return `${n} ${v}`
}

function add(counts: Map<string, number>, key: string, more: number): void {
  counts.set(key, (counts.get(key) ?? 0) + more)
}
