/**
 * Reads the bytes of an object. With an ETag and ranges, in parts that all have the same ETag: a replaced object fails, and a lost
 * connection costs nothing that was received. Without them, as one answer: after a lost connection it is read from its start, and its
 * beginning must have the checksum of before.
 */
import { setMaxListeners } from 'node:events'
import { Checksum } from '../../base/checksum/checksum.js'
import { fail, type SluiceError } from '../../base/failure/failure.js'
import { free } from '../../base/memory.js'
import { Attempts } from './attempts.js'
import { hashNumber } from './judge-answer.js'
import type { PartMemory } from './memory.js'
import { type Fetching, fetchPart, type Part, PART_BYTES } from './part.js'
import type { ObjectFacts } from './store.js'

/** Parts of one object that are fetched at once. */
const PARTS_AT_ONCE = 3
/** As much as is read of a file at once. */
const PIECE_BYTES = 1 << 20

export interface Reading extends Fetching {
  readonly signal: AbortSignal
  readonly from: number
  /** Default: the end. */
  readonly to?: number | undefined
  /** Whether the server sends parts, as far as is known. */
  readonly hasRanges: boolean
  /** Stands for the ETag that the object must have: see `hashNumber`. Absent: any one. */
  readonly etagNumber?: number | undefined
  readonly memory: PartMemory
  /** Bytes to ask for first. Default: `PART_BYTES`. */
  readonly firstBytes?: number | undefined
  /** The first part of the object, if it was fetched ahead. */
  readonly first?: Promise<Part | undefined> | undefined
  /** Called with the first answer. */
  readonly onFacts?: ((facts: ObjectFacts) => void) | undefined
}

/** The memory of a piece is its reader's until the next one is asked for. Throws SluiceError: see `Store.get`. */
export async function* readObject(reading: Reading): AsyncGenerator<Buffer> {
  if (reading.hasRanges) {
    const isRead = yield* readParts(reading)
    if (isRead) return
  }
  yield* readWhole(reading)
}

/** Returns false if the server sends no parts. Nothing was read then. */
async function* readParts(reading: Reading): AsyncGenerator<Buffer, boolean> {
  const { from, to: limit = Infinity, memory, etagNumber, firstBytes = PART_BYTES } = reading
  const over = new AbortController()
  const signal = AbortSignal.any([reading.signal, over.signal])
  setMaxListeners(0, signal)
  const first = await firstPart(reading, limit)
  if (first === undefined) return false
  const { facts } = first
  if (etagNumber !== undefined && hashNumber(facts.etag ?? '') !== etagNumber) throw replaced(reading.name, OTHER_ETAG)
  reading.onFacts?.(facts)
  yield* pieces(first)
  const end = Math.min(limit, facts.size ?? limit)
  const window: { readonly part: Promise<Part | undefined>; readonly held: number }[] = []
  let next = from + firstBytes
  try {
    for (;;) {
      while (next < end && window.length < PARTS_AT_ONCE && (window.length === 0 || memory.take(PART_BYTES))) {
        const part = fetchPart(reading, { from: next, to: Math.min(next + PART_BYTES, end), of: facts, signal })
        part.catch(() => undefined) // seen below, when its turn comes
        window.push({ part, held: window.length === 0 ? 0 : PART_BYTES })
        next += PART_BYTES
      }
      const [current] = window
      if (current === undefined) return true
      const part = await current.part
      if (part === undefined)
        throw fail('INPUT_UNREADABLE', { input: reading.name, problem: 'the server no longer sends parts of it' })
      yield* pieces(part)
      memory.give(current.held)
      window.shift()
    }
  } finally {
    over.abort(new Error('the object is not read any further'))
    for (const { held } of window) memory.give(held)
  }
}

/** Yields a part piece by piece, and then frees its memory. */
function* pieces({ bytes }: Part): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
  free(bytes.buffer)
}

async function firstPart(reading: Reading, limit: number): Promise<Part | undefined> {
  const { from, signal, first, firstBytes = PART_BYTES } = reading
  if (first === undefined) return await fetchPart(reading, { from, to: Math.min(from + firstBytes, limit), signal })
  // Fetching ahead ends with the run. This reading may end sooner.
  signal.throwIfAborted()
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => (abort = () => reject(signal.reason as Error)))
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([first, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

async function* readWhole(reading: Reading): AsyncGenerator<Buffer> {
  const { store, name, from, to = Infinity, signal, patience, timeoutMs } = reading
  const attempts = new Attempts(patience, signal)
  /** Of all bytes so far, from the first one. */
  let sum = new Checksum()
  for (let isFirst = true; ; isFirst = false) {
    const again = new Checksum()
    const stall = new Stall(signal, timeoutMs, name)
    try {
      const { facts, body } = await store.get(name, { signal: stall.signal })
      if (isFirst) check(reading, facts)
      try {
        for await (const chunk of stall.watch(body)) {
          const passed = Math.min(chunk.length, sum.bytes - again.bytes)
          again.add(chunk.subarray(0, passed))
          if (passed > 0 && again.bytes === sum.bytes && again.digest() !== sum.digest()) throw replaced(name)
          const fresh = chunk.subarray(passed)
          if (fresh.length === 0) continue
          const at = sum.bytes
          sum.add(fresh)
          again.add(fresh)
          attempts.received(fresh.length)
          const wanted = fresh.subarray(Math.max(0, from - at), Math.max(0, to - at))
          if (wanted.length > 0) yield wanted
          if (sum.bytes >= to) return
        }
      } finally {
        body.destroy()
      }
      if (again.bytes < sum.bytes) throw replaced(name, `it has only ${again.bytes} bytes now`)
      return
    } catch (error) {
      await attempts.failed(stall.errorOf(error))
    } finally {
      stall.end()
    }
  }
}

function check({ name, etagNumber, onFacts }: Reading, facts: ObjectFacts): void {
  if (etagNumber !== undefined && hashNumber(facts.etag ?? '') !== etagNumber) throw replaced(name, OTHER_ETAG)
  onFacts?.(facts)
}

const OTHER_ETAG = 'it has another ETag now'

function replaced(input: string, observed = 'it is not the object that Sluice has begun to read'): SluiceError {
  return fail('INPUT_REPLACED', { input, observed })
}

/** Ends an answer whose next bytes do not come. It does not count how long the reader takes. */
class Stall {
  readonly signal: AbortSignal
  readonly #controller = new AbortController()
  readonly #limitMs: number
  readonly #input: string
  #timer: NodeJS.Timeout | undefined

  constructor(signal: AbortSignal, limitMs: number, input: string) {
    this.signal = AbortSignal.any([signal, this.#controller.signal])
    this.#limitMs = limitMs
    this.#input = input
    this.#begin()
  }

  async *watch(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of body) {
      this.end()
      yield chunk
      this.#begin()
    }
  }

  errorOf(error: unknown): unknown {
    return this.#controller.signal.aborted ? this.#controller.signal.reason : error
  }

  end(): void {
    clearTimeout(this.#timer)
  }

  #begin(): void {
    this.end()
    const observed = `no more bytes within ${this.#limitMs / 1000} s`
    this.#timer = setTimeout(
      () => this.#controller.abort(fail('SOURCE_UNAVAILABLE', { input: this.#input, observed })),
      this.#limitMs,
    )
  }
}
