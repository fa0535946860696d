import type { Socket } from 'node:net'
import { Transform, type TransformCallback } from 'node:stream'
import type { FaultPlan } from '../faults.js'
import { type Arrival, reset } from '../listener.js'

/**
 * Joins a client to its target until one of them closes. Passes half-closing on. `head`: bytes that the client sent
 * before the tunnel was open. Applies the faults that are planted when the tunnel starts. `fault`: the fault that
 * cuts it.
 */
export function joinTunnel(
  client: Socket,
  upstream: Socket,
  arrival: Arrival,
  faults: FaultPlan,
  head: Buffer,
  fault: 'cut' | 'inboundCut' = 'cut',
): void {
  client.on('error', () => upstream.destroy())
  upstream.on('error', () => client.destroy())
  client.once('close', () => upstream.destroy())
  upstream.once('close', () => client.destroy())
  const cut = faults.strike(fault)
  const delay = fault === 'cut' ? (faults.current.latencyMs ?? 0) : 0

  let source: NodeJS.ReadableStream = client
  if (delay > 0) source = source.pipe(delayLine(delay))
  if (cut) source = source.pipe(cutAfter(cut.afterBytes, () => reset(arrival)))
  if (head.length > 0) client.unshift(head)
  source.pipe(upstream)
  upstream.pipe(client)
}

/** Passes each chunk on after `ms`, at full rate. */
function delayLine(ms: number): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      setTimeout(() => this.push(chunk), ms)
      done()
    },
    flush(done: TransformCallback) {
      setTimeout(done, ms)
    },
  })
}

/** Passes the first `limit` bytes on, then ends. Calls `onCut` after the last of them was passed. */
function cutAfter(limit: number, onCut: () => void): Transform {
  let left = limit
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      if (left <= 0) return done()
      const passed = chunk.subarray(0, left)
      left -= passed.length
      this.push(passed)
      if (left === 0) setImmediate(onCut)
      done()
    },
  })
}
