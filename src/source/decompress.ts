import { fail } from '../failure/failure.js'
import { type Gunzip, createGunzip } from 'node:zlib'
import { codeOf } from './cannot-read.js'

const GZIP = [0x1f, 0x8b]
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd]

/**
 * Gunzips the bytes if they begin like gzip, and passes others as they are. The first bytes decide, not the name. Only an empty
 * file in .gz counts as truncated gzip. `isStored`: closing waits for a read under way, which may still use memory of the caller.
 * Otherwise nobody waits for bytes that were asked for ahead: those of a stream may never come.
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
    if (begins(head, GZIP) || (name.endsWith('.gz') && isCutShort(head, GZIP))) {
      isAhead = true
      yield* oneAhead(gunzip(all, name), isStored)
      isAhead = false
    } else if (begins(head, ZSTD)) {
      const problem = 'Sluice does not read zstd. Decompress it first'
      throw fail('INPUT_UNREADABLE', { input: name, problem })
    } else {
      yield* all
    }
  } finally {
    const closed = iterator.return?.()
    if (isAhead && !isStored) closed?.catch(() => undefined)
    else await closed
  }
}

/**
 * Asks for the next chunk before the consumer gets one, which then works on it for long without a break. So zlib decodes in its own thread
 * meanwhile, also behind the end of a slice.
 */
async function* oneAhead(chunks: AsyncGenerator<Uint8Array>, isStored: boolean): AsyncGenerator<Uint8Array> {
  let next = chunks.next()
  try {
    for (let { done, value } = await next; done !== true; { done, value } = await next) {
      next = chunks.next()
      next.catch(() => undefined) // seen above, when its turn comes
      await new Promise<void>(resolve => setImmediate(resolve))
      yield value
    }
  } finally {
    const closed = chunks.return(undefined).catch(() => undefined)
    if (isStored) await closed
  }
}

/** Tells whether an input that begins so is compressed. */
export function isCompressed(head: Uint8Array): boolean {
  return begins(head, GZIP) || begins(head, ZSTD)
}

/** Reads the first chunk, or several joined if one is too short to decide. Empty if the input is. */
async function readHead(iterator: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  let head: Uint8Array = new Uint8Array(0)
  while (isCutShort(head, GZIP) || isCutShort(head, ZSTD)) {
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

function begins(head: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, index) => head[index] === byte)
}

/** Tells whether it could begin with the magic number if there were more bytes. */
function isCutShort(head: Uint8Array, magic: readonly number[]): boolean {
  return head.length < magic.length && head.every((byte, index) => byte === magic[index])
}

const OUTPUT_BYTES = 1 << 20
const FIRST_SLICE_BYTES = 1 << 10
const TRAILER_BYTES = 8

/**
 * Gunzips concatenated members. After all that it could decode, it throws SluiceError: INPUT_TRUNCATED, or INPUT_UNREADABLE if
 * the data is corrupt. In that case up to 1 MiB before the fault is missing, because no checksum covers it.
 *
 * A Node stream that fails drops its output. So each slice is decoded and taken out before the next one is written. The end comes
 * last: only then does zlib notice that the data was cut.
 */
async function* gunzip(compressed: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const engine = createGunzip({ chunkSize: OUTPUT_BYTES })
  const outputOf = watch(engine)
  let fed = 0
  let bytes = 0
  let isOver = false
  try {
    for await (const slice of slices(compressed)) {
      if (isOver) {
        checkPadding(slice, name, bytes)
        continue
      }
      fed += slice.length
      for await (const output of outputOf(done => void engine.write(slice, done))) {
        bytes += output.length
        yield output
      }
      // A zero byte behind a member ends the data for zlib, whatever follows.
      isOver = engine.bytesWritten < fed
      if (isOver) checkPadding(slice.subarray(slice.length - (fed - engine.bytesWritten)), name, bytes)
    }
    if (isOver) return
    for await (const output of outputOf(done => void engine.once('end', done).end())) {
      bytes += output.length
      yield output
    }
  } catch (error) {
    throw explained(error, name, bytes)
  } finally {
    engine.destroy()
  }
}

/** Accepts zeros behind the last member. */
function checkPadding(padding: Uint8Array, input: string, bytes: number): void {
  if (padding.every(byte => byte === 0)) return
  const problem = `its gzip data is corrupt (zeros, and then other data) after ${bytes} decoded bytes`
  throw fail('INPUT_UNREADABLE', { input, problem, bytes })
}

type Step = (done: (error?: Error | null) => void) => void

/** Returns a function that runs a step of the engine, yields all its output, and then throws the engine's error, if any. */
function watch(engine: Gunzip): (step: Step) => AsyncGenerator<Uint8Array> {
  let failed: Error | undefined
  let wake = () => {}
  engine.on('readable', () => wake())
  engine.on('error', error => {
    failed = error
    wake()
  })
  return async function* outputOf(step) {
    let done = false
    step(error => {
      done = true
      failed ??= error ?? undefined
      wake()
    })
    for (;;) {
      // Taking output also starts zlib on more, in its own thread, while the consumer works on this.
      const output: unknown = engine.read()
      if (output instanceof Uint8Array) yield output
      else if (failed !== undefined) throw failed
      else if (done) return
      else await new Promise<void>(resolve => (wake = resolve))
    }
  }
}

/**
 * Cuts the data into slices. A fault loses all output of its slice, so the first slices are small, and the trailer with the
 * checksum is a slice of its own.
 */
async function* slices(compressed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = FIRST_SLICE_BYTES
  let held: Uint8Array = new Uint8Array(0)
  try {
    for await (const chunk of compressed) {
      // As a slice of its own it would cost zlib's thread a turn.
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      const end = Math.max(0, bytes.length - TRAILER_BYTES)
      for (let from = 0; from < end; from += size, size = Math.min(size * 2, OUTPUT_BYTES)) {
        yield bytes.subarray(from, Math.min(from + size, end))
      }
      held = Uint8Array.from(bytes.subarray(end))
    }
  } catch (error) {
    // Decode what came before the error first.
    if (held.length > 0) yield held
    throw error
  }
  if (held.length > 0) yield held
}

function explained(error: unknown, input: string, bytes: number): unknown {
  const code = codeOf(error)
  if (code === 'Z_BUF_ERROR') return fail('INPUT_TRUNCATED', { input, encoding: 'gzip', bytes }, { cause: error })
  if (!code.startsWith('Z_') || !(error instanceof Error)) return error
  const problem = `its gzip data is corrupt (${error.message}) after ${bytes} decoded bytes`
  return fail('INPUT_UNREADABLE', { input, problem, bytes }, { cause: error })
}
