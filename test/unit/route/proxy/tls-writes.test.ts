import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, type Socket, connect } from 'node:net'
import tls, { TLSSocket, createServer } from 'node:tls'
import { buffer } from 'node:stream/consumers'
import { expect, it, vi } from 'vitest'
import { secureLayer } from '../../../../src/route/proxy/tls-layer.js'
import { createAuthority } from '../../../support/servers/proxy-certificates.js'

interface Handle {
  writev?(...given: unknown[]): number
  writeBuffer(request: unknown, bytes: Uint8Array): number
}

it('encrypts a request in pieces, and joins nothing', async () => {
  const authority = await createAuthority('own')
  const { cert, key } = await authority.issue(['localhost'])
  const server = createServer({ cert, key }).listen(0)
  await once(server, 'listening')
  const received = (once(server, 'secureConnection') as Promise<[Socket]>).then(
    async ([socket]) => await buffer(socket),
  )
  const raw = connect((server.address() as AddressInfo).port, 'localhost')
  await once(raw, 'connect')
  const socket = await secureLayer({ ca: authority.cert }, 'TLS')(raw, 'localhost')
  if (socket === undefined) throw new Error('there is no fingerprint to learn')

  const pieces: number[] = []
  const joined: unknown[] = []
  const handle = (socket as unknown as { _handle: Handle })._handle
  const writeBuffer = handle.writeBuffer.bind(handle)
  handle.writeBuffer = (request, bytes) => {
    pieces.push(bytes.length)
    return writeBuffer(request, bytes)
  }
  handle.writev = (...given) => joined.push(given)
  const head = randomBytes(400)
  const body = randomBytes(1_000_000)
  // As undici writes a request.
  socket.cork()
  socket.write(head)
  socket.write(body)
  socket.uncork()
  expect(socket.writableLength).toBe(head.length + body.length)
  socket.end()
  expect((await received).equals(Buffer.concat([head, body]))).toBe(true)
  expect(socket.writableLength).toBe(0)
  expect(Math.max(...pieces)).toBeLessThanOrEqual(256 << 10)
  expect(pieces.reduce((sum, bytes) => sum + bytes)).toBe(head.length + body.length)
  expect(joined).toEqual([])
  server.close()
})

it('reads one certificate of the other side to verify its name, and all of them later', async () => {
  const authority = await createAuthority('own')
  const { cert, key } = await authority.issue(['localhost'])
  const server = createServer({ cert, key }).listen(0)
  await once(server, 'listening')
  const asked = vi.spyOn(TLSSocket.prototype, 'getPeerCertificate')
  try {
    const raw = connect((server.address() as AddressInfo).port, 'localhost')
    await once(raw, 'connect')
    const socket = await secureLayer({ ca: authority.cert }, 'TLS')(raw, 'localhost')
    expect(asked.mock.calls).toEqual([[false]])
    expect(socket?.getPeerCertificate(true).issuerCertificate.subject.CN).toBe('own')
    socket?.destroy()
  } finally {
    asked.mockRestore()
    server.close()
  }
})

it.each([
  [undefined, 'TLS_AES_128_GCM_SHA256'],
  ['TLS_AES_256_GCM_SHA384', 'TLS_AES_256_GCM_SHA384'],
  ['TLS_CHACHA20_POLY1305_SHA256', 'TLS_CHACHA20_POLY1305_SHA256'],
])('takes AES with the short key if the server leaves the choice, not if it offers %s', async (offered, chosen) => {
  const authority = await createAuthority('own')
  const { cert, key } = await authority.issue(['localhost'])
  const server = createServer({
    cert,
    key,
    ...(offered === undefined ? { honorCipherOrder: false } : { ciphers: offered }),
  }).listen(0)
  await once(server, 'listening')
  const raw = connect((server.address() as AddressInfo).port, 'localhost')
  await once(raw, 'connect')
  const socket = await secureLayer({ ca: authority.cert }, 'TLS')(raw, 'localhost')
  expect(socket?.getCipher().name).toBe(chosen)
  socket?.destroy()
  server.close()
})

it('takes the list that a program sets for its process', async () => {
  const usual = tls.DEFAULT_CIPHERS
  const authority = await createAuthority('own')
  const { cert, key } = await authority.issue(['localhost'])
  const server = createServer({ cert, key, honorCipherOrder: false }).listen(0)
  await once(server, 'listening')
  try {
    tls.DEFAULT_CIPHERS = 'TLS_AES_256_GCM_SHA384:ECDHE-RSA-AES256-GCM-SHA384'
    const layer = secureLayer({ ca: authority.cert }, 'TLS')
    const raw = connect((server.address() as AddressInfo).port, 'localhost')
    await once(raw, 'connect')
    const socket = await layer(raw, 'localhost')
    expect(socket?.getCipher().name).toBe('TLS_AES_256_GCM_SHA384')
    socket?.destroy()
  } finally {
    tls.DEFAULT_CIPHERS = usual
    server.close()
  }
})
