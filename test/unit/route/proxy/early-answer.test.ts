import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { RouteRequest } from '../../../../src/route/proxy/route-request.js'
import { openRoute } from '../../../../src/route/proxy/route.js'
import { startPort } from '../../../support/servers/proxy-servers.js'

const get: RouteRequest = { method: 'GET', path: '/', headers: {} }
const post: RouteRequest = { method: 'POST', path: '/_bulk', headers: {}, body: 'small' }
/** More than the kernels of both sides take while no process reads. */
const vast = Buffer.alloc(64 * 1024 * 1024)

const answer = (status: string, header = '') => `HTTP/1.1 ${status}\r\n${header}Content-Length: 0\r\n\r\n`

// Both answers arrive at once: the one connection is free while it is not yet known whether the other one has to be closed.
test('no request is written to a connection before it is known whether the last body has left', async () => {
  let [unread, other]: (Socket | undefined)[] = []
  await using target = await startPort(socket => {
    socket.on('data', (data: Buffer) => {
      if (unread !== undefined && other !== undefined) return void socket.write(answer('201 Created'))
      if (data.toString('latin1', 0, 4) === 'POST') unread = socket.pause()
      else other = socket
      if (unread === undefined || other === undefined) return
      unread.write(answer('429 Too Many Requests'))
      other.write(answer('200 OK'))
    })
  })
  for (let round = 0; round < 5; round += 1) {
    unread = other = undefined
    await using route = openRoute({ target: new URL(`http://127.0.0.1:${target.port}`), connections: 2 })
    const early = route.request({ ...post, body: vast })
    const whole = route.request(get)
    const next = [route.request(post), route.request(post)]
    expect((await early).statusCode).toBe(429)
    for (const one of [early, whole, ...next]) await (await one).body.bytes()
    expect(await Promise.all(next)).toMatchObject([{ statusCode: 201 }, { statusCode: 201 }])
  }
})

test.each([
  ['by nobody who reads bodies', '', 2],
  ['by one who does', 'X-Reader: yes\r\n', 1],
])('a connection on which a body was refused %s is used so often: %s%i', async (_, header, connections) => {
  await using target = await startPort(socket => {
    socket.on('data', () => socket.write(answer('403 Forbidden', header)))
  })
  await using route = openRoute({ target: new URL(`http://127.0.0.1:${target.port}`), connections: 1 })
  const isReader: RouteRequest['isReader'] = headers => headers['x-reader'] !== undefined
  for (const body of ['one', 'other']) await (await route.request({ ...post, body, isReader })).body.bytes()
  expect(target.connections).toBe(connections)
})

test('a refusal of a request without a body leaves the connection as it was', async () => {
  await using target = await startPort(socket => {
    socket.on('data', () => socket.write(answer('403 Forbidden')))
  })
  await using route = openRoute({ target: new URL(`http://127.0.0.1:${target.port}`), connections: 1 })
  for (let n = 0; n < 2; n += 1) await (await route.request({ ...get, isReader: () => false })).body.bytes()
  expect(target.connections).toBe(1)
})
