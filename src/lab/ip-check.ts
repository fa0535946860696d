import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { arrivalOf } from './listener.js'

/** Answers any request with the address of its socket. Ignores headers. */
export function createIpCheck(): (socket: Socket) => void {
  const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
    const arrival = arrivalOf(request.socket)
    arrival.requests++
    request.resume()
    response.setHeader('content-type', 'application/json; charset=utf-8')
    response.end(JSON.stringify({ ip: arrival.from }))
  })
  return socket => void server.emit('connection', socket)
}
