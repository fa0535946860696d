/** Fetches a part of an object. What was received before a connection broke is not fetched again. */
import { fail } from '../../base/failure/failure.js'
import { free } from '../../base/memory.js'
import { type SourcePatience, untilDone } from './attempts.js'
import type { ObjectFacts, Store } from './store.js'

/** Bytes of an object to ask for at once. */
export const PART_BYTES = 4 << 20

export interface Fetching {
  readonly store: Store
  readonly name: string
  readonly patience: SourcePatience
  readonly timeoutMs: number
}

export interface PartWanted {
  readonly from: number
  readonly to: number
  /** What other parts came with. Absent: whatever the object is now. */
  readonly of?: ObjectFacts | undefined
  readonly signal: AbortSignal
}

export interface Part {
  readonly facts: ObjectFacts
  readonly bytes: Buffer
}

/** Returns undefined if the server sends no parts of the object. Throws SluiceError: see `Store.get`. */
export async function fetchPart(
  { store, name, patience, timeoutMs }: Fetching,
  { from, to, of, signal }: PartWanted,
): Promise<Part | undefined> {
  const chunks: Buffer[] = []
  let at = from
  let known = of
  return await untilDone(patience, signal, async attempts => {
    const range = { from: at, to }
    const { facts, isPart, body } = await store.get(name, { range, etag: known?.etag, signal, timeoutMs })
    if (!isPart || facts.etag === undefined) {
      body.destroy()
      return undefined
    }
    // Some servers keep the ETag of an object that changes. What is missing between two parts would be lost.
    if (known?.size !== undefined && facts.size !== undefined && facts.size !== known.size) {
      body.destroy()
      throw fail('INPUT_REPLACED', { input: name, observed: 'its parts come with different sizes of the whole' })
    }
    known = facts
    for await (const chunk of body) {
      chunks.push(chunk)
      at += chunk.length
      attempts.received(chunk.length)
    }
    const end = Math.min(to, facts.size ?? to)
    if (at < end)
      throw fail('SOURCE_UNAVAILABLE', { input: name, observed: `the part ends after ${at} of ${end} bytes` })
    const bytes = Buffer.concat(chunks, at - from)
    for (const memory of new Set(chunks.map(({ buffer }) => buffer))) free(memory)
    return { facts, bytes }
  })
}
