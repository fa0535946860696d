import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type Arrival, reset } from '../listener.js'
import type { Refusal } from './refusal.js'
import type { Route } from './route.js'

/** Waits the planted latency, and plays the planted handshake fault: false when the connection is lost to it. */
export async function passHandshake({ faults }: Route, arrival: Arrival, client: Socket): Promise<boolean> {
  const fault = faults.strike('handshake')
  if (fault?.kind === 'fin') client.end()
  if (fault?.kind === 'rst') reset(arrival)
  if (fault?.kind === 'silence') client.resume()
  if (fault) return false
  const latency = faults.current.latencyMs ?? 0
  if (latency > 0) await wait(latency)
  return !client.destroyed
}

/**
 * Calls one of the two functions, once: when the connection is open, or when it fails. Later errors are left to the
 * caller.
 */
export function connected(socket: Socket, limitMs: number, refuse: (refusal: Refusal) => void, go: () => void): void {
  const timer = setTimeout(() => fail({ status: 504, error: 'connection_timeout' }), limitMs)
  const onError = (error: NodeJS.ErrnoException): void => fail(refusalOf(error))
  socket.once('error', onError)
  socket.once('close', stop)
  socket.once('connect', () => {
    stop()
    go()
  })

  function stop(): void {
    clearTimeout(timer)
    socket.off('error', onError)
    socket.off('close', stop)
  }

  function fail(refusal: Refusal): void {
    stop()
    socket.on('error', () => {})
    socket.destroy()
    refuse(refusal)
  }
}

/** Returns the answer for a failed connection to a target. */
export function refusalOf({ code }: NodeJS.ErrnoException): Refusal {
  if (code === 'ETIMEDOUT') return { status: 504, error: 'connection_timeout' }
  return { status: 502, error: code === 'ECONNREFUSED' ? 'connection_refused' : 'connection_terminated' }
}
