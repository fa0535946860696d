import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { portSpeaks } from '../../../../src/route/proxy/port-speaks.js'
import { startPort, startSocksProxy } from '../../../support/servers/proxy-servers.js'

async function spoken(expected: 'http' | 'socks5', port: number, limitMs: number): Promise<string> {
  const asking = { host: '127.0.0.1', port, promptMs: 200, limitMs, onAsk: () => {}, signal: undefined }
  return (await portSpeaks(expected, asking)).spoken
}

test('a port that says something else, and one that says nothing, are neither', async () => {
  await using chatty = await startPort(socket => void socket.write('SSH-2.0-OpenSSH_9.2\r\n'))
  await using silent = await startPort(() => {})
  expect(await spoken('http', chatty.port, 200)).toBe('unknown')
  expect(await spoken('socks5', silent.port, 200)).toBe('unknown')
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
  const asking = { host: '127.0.0.1', port: slow.port, limitMs: 60_000, onAsk: () => {}, signal: undefined }
  expect(await portSpeaks('http', asking)).toMatchObject({ spoken: 'http', date: 'Sat, 21 Nov 2026 12:00:00 GMT' })
})

test('a SOCKS5 port that hears HTTP, or a greeting in pieces, is known by what it answers', async () => {
  await using proxy = await startSocksProxy()
  expect(await spoken('http', proxy.port, 60_000)).toBe('socks5')
  const socket = connect(proxy.port, '127.0.0.1')
  for (const bytes of [[5], [2, 0], [2]]) {
    socket.write(Buffer.from(bytes))
    await new Promise(setImmediate)
  }
  const [answered] = (await once(socket, 'data')) as [Buffer]
  expect([...answered]).toEqual([5, 0])
  socket.destroy()
})
