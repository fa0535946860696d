/** The turns of the event loop between an early answer's end and the end of its connection. */
import { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import { describe, expect, it } from 'vitest'
import type { ConnectProgress } from '../../../../src/route/proxy/connector.js'
import { Exchange } from '../../../../src/route/proxy/exchange.js'
import type { RouteResponse } from '../../../../src/route/proxy/route-request.js'

const way = { target: new URL('http://127.0.0.1:9200'), connectTimeoutMs: 1000 }

/** As undici's: a request that was answered is complete, and is no longer aborted. */
const controller = {
  aborted: false,
  paused: false,
  reason: null,
  abort: () => undefined,
  pause: () => undefined,
  resume: () => undefined,
} satisfies Dispatcher.DispatchController

/** A request that was answered before its body had left. */
async function answeredEarly(signal?: AbortSignal): Promise<{
  answer: RouteResponse
  progress: ConnectProgress
  socket: Socket
  freed: Promise<void>
}> {
  const socket = new Socket()
  const progress: ConnectProgress = { phase: 'exchange', connection: { socket, unsentBytes: () => 1 } }
  let free = (): void => undefined
  const freed = new Promise<void>(resolve => (free = resolve))
  const request = { method: 'POST', path: '/', headers: {}, body: 'body', ...(signal === undefined ? {} : { signal }) }
  const exchange = new Exchange(way, false, request, { over: () => undefined, freed: free })
  exchange.progress = progress
  exchange.onRequestStart(controller)
  exchange.onResponseStart(controller, 429, {})
  exchange.onResponseEnd()
  return { answer: await exchange.response, progress, socket, freed }
}

describe('an answer that came before the body had left', () => {
  it('ends when its connection is closed, not before', async () => {
    const { answer, socket } = await answeredEarly()
    expect(socket.destroyed).toBe(false)
    await answer.body.bytes()
    expect(socket.destroyed).toBe(true)
  })

  it('fails when its connection is closed, not before, if the caller aborts meanwhile', async () => {
    const stop = new AbortController()
    const { answer, socket } = await answeredEarly(stop.signal)
    stop.abort()
    expect(answer.body.errored).toMatchObject({ code: 'ABORTED' })
    expect(socket.destroyed).toBe(true)
  })

  it('closes its connection at once when it is abandoned', async () => {
    const { answer, socket } = await answeredEarly()
    answer.body.destroy()
    expect(socket.destroyed).toBe(true)
  })

  it('closes its own connection, not the one that came after it', async () => {
    const { progress, socket, freed } = await answeredEarly()
    const next = new Socket()
    progress.connection = { socket: next, unsentBytes: () => 1 }
    await freed
    expect([socket.destroyed, next.destroyed]).toEqual([true, false])
    next.destroy()
  })
})
