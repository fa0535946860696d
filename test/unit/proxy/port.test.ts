import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { portSpeaks } from '../../../src/proxy/port-speaks.js'
import { startPort, startSocksProxy } from '../../support/proxy-servers.js'

async function spoken(expected: 'http' | 'socks5', port: number): Promise<string> {
  const asking = { host: '127.0.0.1', port, limitMs: 200, onAsk: () => {}, signal: undefined }
  return (await portSpeaks(expected, asking)).spoken
}

test('a port that says something else, and one that says nothing, are neither', async () => {
  await using chatty = await startPort(socket => void socket.write('SSH-2.0-OpenSSH_9.2\r\n'))
  await using silent = await startPort(() => {})
  expect(await spoken('http', chatty.port)).toBe('unknown')
  expect(await spoken('socks5', silent.port)).toBe('unknown')
})

test('an answer that comes in pieces is one answer, and its date is read', async () => {
  await using slow = await startPort(socket => {
    socket.once('data', () => {
      socket.write('HT')
      setImmediate(() =>
        socket.end('TP/1.1 407 Proxy Authentication Required\r\nDate: Sat, 21 Nov 2026 12:00:00 GMT\r\n\r\n'),
      )
    })
  })
  const asking = { host: '127.0.0.1', port: slow.port, limitMs: 2000, onAsk: () => {}, signal: undefined }
  expect(await portSpeaks('http', asking)).toMatchObject({ spoken: 'http', date: 'Sat, 21 Nov 2026 12:00:00 GMT' })
})

test('a SOCKS5 port that hears HTTP, or a greeting in pieces, is known by what it answers', async () => {
  await using proxy = await startSocksProxy()
  expect(await spoken('http', proxy.port)).toBe('socks5')
  const socket = connect(proxy.port, '127.0.0.1')
  for (const bytes of [[5], [2, 0], [2]]) {
    socket.write(Buffer.from(bytes))
    await new Promise(setImmediate)
  }
  const [answered] = (await once(socket, 'data')) as [Buffer]
  expect([...answered]).toEqual([5, 0])
  socket.destroy()
})
