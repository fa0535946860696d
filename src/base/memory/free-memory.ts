/** A port whose messages go nowhere, together with the memory that they carry. Opened at its first use: most loads decode nothing. */
let nowhere: ReturnType<typeof closedPort> | undefined

/** Memory that a thread may still read. */
const stillRead = new WeakSet<ArrayBufferLike>()

/** Leaves memory to V8: a decoder was closed, and its thread does not stop at once. */
export function spare(memory: ArrayBufferLike): void {
  stillRead.add(memory)
}

/**
 * Frees memory that the caller no longer uses. If V8 were to find that out, it would look through the whole heap for each 10 MB: decoding
 * took a third more CPU time, and a third more memory.
 */
export function free(memory: ArrayBufferLike): void {
  const isOwn = memory instanceof ArrayBuffer && memory.byteLength > Buffer.poolSize
  if (!isOwn || stillRead.has(memory)) return
  nowhere ??= closedPort()
  try {
    nowhere.postMessage(undefined, [memory])
  } catch {
    // Node keeps the pool from which it takes small buffers, and that has a few bytes more than `poolSize` since Node 26.
  }
}

function closedPort() {
  const { port1 } = new MessageChannel()
  port1.close()
  return port1
}
