import { free } from './free.js'
import { kinds, mayBe } from './kinds.js'

/**
 * Decompresses bytes that begin like gzip, zstd, bzip2 or xz, and passes others as they are. The first bytes decide, not the name.
 * Only brotli is known by its name, because its data has no mark, and an empty file in .gz counts as truncated gzip.
 * `isStored`: closing waits for a read under way, which may still use memory of the caller. Otherwise nobody waits for bytes that
 * were asked for ahead: those of a stream may never come. Throws SluiceError: INPUT_TRUNCATED, INPUT_UNREADABLE.
 */
export async function* decompress(
  bytes: AsyncIterable<Uint8Array>,
  name: string,
  isStored = false,
): AsyncGenerator<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]()
  let isAhead = false
  try {
    const head = await readHead(iterator)
    const all = behind(head, iterator)
    const kind = kinds.find(one => one.fits(head, name))
    if (kind === undefined) yield* all
    else {
      isAhead = true
      yield* oneAhead(kind.decode(all, name), isStored)
      isAhead = false
    }
  } finally {
    const closed = iterator.return?.()
    if (isAhead && !isStored) closed?.catch(() => undefined)
    else await closed
  }
}

/** Tells whether an input that begins so is compressed. */
export function isCompressed(head: Uint8Array, name = ''): boolean {
  return kinds.some(kind => kind.fits(head, name))
}

/**
 * Asks for the next chunk before the consumer gets one, which then works on it for long without a break. So the decoder works in
 * a thread or process of its own meanwhile, also behind the end of a slice.
 */
async function* oneAhead(chunks: AsyncGenerator<Uint8Array>, isStored: boolean): AsyncGenerator<Uint8Array> {
  let next = chunks.next()
  let last: Uint8Array | undefined
  try {
    for (let { done, value } = await next; done !== true; { done, value } = await next) {
      next = chunks.next()
      next.catch(() => undefined) // seen above, when its turn comes
      await new Promise<void>(resolve => setImmediate(resolve))
      yield value
      // The consumer is done with it, and the decoder fills no memory for a second time.
      if (value.byteOffset + value.byteLength === value.buffer.byteLength) free(value.buffer)
      last = value
    }
    if (last !== undefined) free(last.buffer)
  } finally {
    const closed = chunks.return(undefined).catch(() => undefined)
    if (isStored) await closed
  }
}

/** Reads the first chunk, or several joined if one is too short to decide. Empty if the input is. */
async function readHead(iterator: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  let head: Uint8Array = new Uint8Array(0)
  while (mayBe(head)) {
    // The next chunk may overwrite this one.
    const kept = Uint8Array.from(head)
    const next = await iterator.next()
    if (next.done === true) return kept
    head = kept.length === 0 ? next.value : Buffer.concat([kept, next.value])
  }
  return head
}

async function* behind(head: Uint8Array, iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value
}
