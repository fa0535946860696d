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
