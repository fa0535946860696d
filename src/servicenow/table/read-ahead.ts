/** Asks for the next item while one is being used. Whoever stops early has `items` end by themselves: by a signal. */
export async function* readAhead<T>(items: AsyncIterator<T>): AsyncGenerator<T> {
  let coming = ask(items)
  for (;;) {
    const step = await coming
    if (step.done === true) return
    coming = ask(items)
    yield step.value
  }
}

function ask<T>(items: AsyncIterator<T>): Promise<IteratorResult<T, unknown>> {
  const coming = items.next()
  // It is looked at when its turn comes.
  coming.catch(() => undefined)
  return coming
}
