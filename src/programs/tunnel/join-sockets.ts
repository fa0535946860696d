import type { Socket } from 'node:net'

/**
 * Joins a caller to the connection that leads to its destination. Passes half-closing on. If one side breaks, or nothing moves in
 * either direction for `idleMs`, closes both.
 */
export function joinSockets(caller: Socket, upstream: Socket, idleMs: number): void {
  // What was sent so far must not look whole.
  const resetCaller = (): void => void (caller.destroyed || caller.resetAndDestroy())
  passOn(caller, upstream, () => upstream.destroy())
  passOn(upstream, caller, resetCaller)
  caller.setTimeout(idleMs, () => {
    upstream.destroy()
    resetCaller()
  })
}

function passOn(from: Socket, to: Socket, giveUp: () => void): void {
  from.on('error', giveUp)
  from.once('close', () => {
    if (!from.readableEnded) giveUp()
  })
  from.pipe(to)
}
