/** Lays rules and values down in the memory of the kernel. */
import type { Field, Level, Rules } from '../rules.js'
import type { ValueText } from '../values.js'
import {
  EDIT_BYTES,
  INSERT_BYTES,
  IS_DROPPED,
  IS_WAY,
  LEVEL_BYTES,
  MOST_NUMBERS,
  NONE,
  TEXT_BYTES,
  VALUES,
  VALUE_BYTES,
} from './layout.js'

const COMMA = Buffer.from(',')
const COLON = Buffer.from(':')

/** Returns the address of the top level. Undefined if there is no room, or there are too many rules. `from`, `to`: the part to use. */
export function layDown(
  bytes: Buffer,
  from: number,
  to: number,
  rules: Rules,
  values: readonly ValueText[],
): number | undefined {
  if (values.length > MOST_NUMBERS || rules.renames.length > MOST_NUMBERS) return undefined
  // The number of the line may stand in a value once.
  if (values.some(parts => parts.length > 2)) return undefined
  const tables = new Tables(bytes, from, to)
  const top = tables.level(rules.top)
  for (const [number, [before, after]] of values.entries())
    tables.words(VALUES + number * VALUE_BYTES, [
      ...tables.text(before),
      ...tables.text(after ?? before),
      after === undefined ? 0 : 1,
    ])
  return tables.isFull ? undefined : top
}

class Tables {
  readonly #bytes: Buffer
  readonly #end: number
  #at: number
  isFull = false

  constructor(bytes: Buffer, from: number, to: number) {
    this.#bytes = bytes
    this.#at = from
    this.#end = to
  }

  words(at: number, words: readonly number[]): void {
    for (const [number, word] of words.entries()) this.#bytes.writeUInt32LE(word, at + number * 4)
  }

  /** Returns address and length. */
  text(text: Buffer): [number, number] {
    const at = this.#take(text.length)
    text.copy(this.#bytes, at)
    return [at, text.length]
  }

  level({ prefix, keeps, fields, inserts, dropped, kept }: Level): number {
    const all = fields.flatMap(same => same ?? [])
    const lengths = all.reduce((bits, { name }) => bits | (1n << BigInt(name.length & 63)), 0n)
    const at = this.#take(LEVEL_BYTES)
    const fieldsAt = this.#list(
      all.map(field => this.#field(field)),
      EDIT_BYTES,
    )
    const insertsAt = this.#list(
      inserts.map(({ set, key }) => [set, ...this.text(Buffer.concat([COMMA, key, COLON]))]),
      INSERT_BYTES,
    )
    const texts = (list: readonly Buffer[]) =>
      this.#list(
        list.map(text => this.text(text)),
        TEXT_BYTES,
      )
    const [low, high] = [Number(lengths & 0xffffffffn), Number(lengths >> 32n)]
    const unnamed = [dropped.length, texts(dropped), kept.length, texts(kept)]
    this.words(at, [
      Number(keeps),
      all.length,
      low,
      high,
      fieldsAt,
      ...unnamed,
      inserts.length,
      insertsAt,
      prefix.length,
    ])
    return at
  }

  #field({ name, isDropped, isWay, set, rename, targets, inside }: Field): number[] {
    const [nameAt, length] = this.text(name)
    const key = rename?.key === undefined ? [0, 0] : this.text(rename.key)
    const flags = (isDropped ? IS_DROPPED : 0) + (isWay ? IS_WAY : 0)
    const bits = targets.reduce((sum, target) => sum + 2 ** target, 0)
    const within = inside === undefined ? 0 : this.level(inside)
    return [length, nameAt, flags, set ?? NONE, rename?.number ?? NONE, ...key, bits, within]
  }

  #list(entries: readonly (readonly number[])[], entryBytes: number): number {
    const at = this.#take(entries.length * entryBytes)
    for (const [number, words] of entries.entries()) this.words(at + number * entryBytes, words)
    return at
  }

  /** Takes bytes that begin at a multiple of four. If there is no room, it gives the same bytes again. */
  #take(bytes: number): number {
    const at = this.#at
    const next = Math.ceil((at + bytes) / 4) * 4
    if (next > this.#end) {
      this.isFull = true
      return at
    }
    this.#at = next
    return at
  }
}
