/** What a caller passes: its objects may change while the call runs, and its listener may throw. */

/** Returns a function that copies its arguments, then loads the function that it stands for. */
export function loadedAtCall<Given extends readonly unknown[], Result>(
  load: () => Promise<(...given: Given) => Promise<Result>>,
): (...given: Given) => Promise<Result> {
  return async (...given) => {
    const options = snapshot(given)
    return await (
      await load()
    )(...options)
  }
}

/**
 * Copies the arguments of a call, so that the caller may change its objects while the call runs. Streams, signals, iterables and other
 * objects of a class stay the same.
 */
export function snapshot<T extends readonly unknown[]>(given: T): T {
  return given.map(one => copyOf(one, 0)) as unknown as T
}

/** Options never have so many levels. A value with more probably contains itself. */
const DEEPEST = 100

function copyOf(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value
  // A source may hold very many documents.
  if (Array.isArray(value)) return depth === 1 ? [...(value as unknown[])] : value.map(one => copyOf(one, depth + 1))
  if (value instanceof URL) return new URL(value)
  if (Object.getOwnPropertySymbols(value).length > 0) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return value
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, copyOf(of, depth + 1)]))
}

/** Returns a function that calls the caller's listener. A listener that throws or rejects is not called again. */
export function listenerOf<A extends readonly unknown[]>(
  given: ((...event: A) => unknown) | undefined,
): (...event: A) => void {
  let listen = given
  const stop = (): void => void (listen = undefined)
  return (...event) => {
    try {
      const told = listen?.(...event)
      if (told instanceof Promise) told.catch(stop)
    } catch {
      stop()
    }
  }
}
