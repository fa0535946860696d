import { finished } from 'node:stream'

/** How long a source may take to end. */
const CLOSING_MS = 2000

/** Closes a source, and waits until it is closed. A source that never ends holds up nobody. */
export async function closedSoon(close: () => unknown): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>(resolve => (timer = setTimeout(resolve, CLOSING_MS)))
  await Promise.race([closed(close), late])
  clearTimeout(timer)
}

async function closed(close: () => unknown): Promise<void> {
  try {
    await close()
  } catch {
    // The outcome of its documents is known. Nobody needs the reason.
  }
}

/** Closes what nobody has begun to read: a stream, or a generator or cursor, which is its own iterator. */
export function closeUnread(source: object): unknown {
  if (destroy(source)) return new Promise(resolve => finished(source, { writable: false }, resolve))
  return 'return' in source && typeof source.return === 'function' ? source.return() : undefined
}

/** Destroys a stream. Returns whether it is one. */
export function destroy(source: object): source is NodeJS.ReadableStream {
  if (!('pipe' in source && 'destroy' in source) || typeof source.destroy !== 'function') return false
  source.destroy()
  return true
}
