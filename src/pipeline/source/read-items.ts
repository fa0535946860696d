import { isSluiceError, SluiceError } from '../../base/failure/failure.js'
import { cannotRead } from './read-file.js'
import { closedSoon, destroy } from './close-source.js'
import { collectLines } from './item-lines.js'

const BATCH_BYTES = 128 << 10
const ITEMS_A_TURN = 256

type Step = IteratorResult<unknown, unknown>

/**
 * Reads the documents of an (async) iterable as NDJSON, many lines a chunk. If the iterable pauses, yields the lines so far. Asks
 * for at most one item ahead of the consumer. After the items before, throws the signal's reason, a SluiceError of the iterable's with
 * that as its cause, or SluiceError INPUT_UNREADABLE with what the iterable threw.
 */
export async function* readItems(
  items: Iterable<unknown> | AsyncIterable<unknown>,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted()
  const iterator = begin(items, name)
  const lines = collectLines()
  let state: 'idle' | 'asked' | 'over' = 'idle'
  try {
    for (let items = 1; ; items++) {
      // Items that never wait would block timers, sockets and an abort.
      if (items % ITEMS_A_TURN === 0) {
        await nextTurn()
        signal.throwIfAborted()
      }
      state = 'asked'
      const answer = ask(iterator)
      let step = isThenable(answer) ? await shortly(answer) : answer
      if (step === undefined) {
        if (lines.length > 0) yield lines.take()
        step = await unlessAborted(answer, signal)
      }
      state = step.done === true ? 'over' : 'idle'
      if (step.done === true) break
      lines.add(step.value)
      if (lines.length >= BATCH_BYTES) {
        yield lines.take()
        signal.throwIfAborted()
      }
    }
    if (lines.length > 0) yield lines.take()
  } catch (error) {
    if (!signal.aborted) state = 'over'
    // What was taken counts, also if it will not be sent.
    if (lines.length > 0) yield lines.take()
    if (signal.aborted) throw signal.reason
    throw isSluiceError(error) ? new SluiceError(error.failure, { cause: error }) : cannotRead(name, error)
  } finally {
    // A stream that waits for an item cannot end by itself.
    if (state === 'asked') destroy(items)
    if (state !== 'over') await closedSoon(() => iterator.return?.())
  }
}

function begin(
  items: Iterable<unknown> | AsyncIterable<unknown>,
  name: string,
): Iterator<unknown> | AsyncIterator<unknown> {
  try {
    return Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]()
  } catch (error) {
    throw cannotRead(name, error)
  }
}

/** Asks for the next item. Like `for await`, waits if the item is a promise. */
function ask(iterator: Iterator<unknown> | AsyncIterator<unknown>): Step | PromiseLike<Step> {
  const step = iterator.next()
  if (isThenable(step) || step.done === true || !isThenable(step.value)) return step
  return step.value.then(value => ({ done: false, value }))
}

/** Returns the answer, or undefined if it does not come in this turn of the event loop. */
async function shortly(answer: PromiseLike<Step>): Promise<Step | undefined> {
  let turn: NodeJS.Immediate | undefined
  const end = new Promise<undefined>(resolve => (turn = setImmediate(() => resolve(undefined))))
  try {
    return await Promise.race([answer, end])
  } finally {
    clearImmediate(turn)
  }
}

async function nextTurn(): Promise<void> {
  await new Promise<void>(resolve => setImmediate(resolve))
}

async function unlessAborted(answer: Step | PromiseLike<Step>, signal: AbortSignal): Promise<Step> {
  signal.throwIfAborted()
  let abort = () => {}
  const aborted = new Promise<undefined>(resolve => (abort = () => resolve(undefined)))
  signal.addEventListener('abort', abort)
  try {
    const step = await Promise.race([answer, aborted])
    if (step === undefined) throw signal.reason
    return step
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
