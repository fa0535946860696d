// @module-tag long
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { ask, ending, openLab, readSome, sendSocks, socksAddress } from '../../support/lab/lab-clients.js'

const { ipv4, ipv6, domain } = socksAddress
const ports = ['socks5', 'socks5s'] as const
const ok = '05000001000000000000'
const mapped = [0, 0, 0, 0, 0, 0xffff, 0x7f00, 1]

describe.each(ports)('the %s port', kind => {
  it.each([
    ['an IPv4 address', ipv4('127.0.0.1')],
    ['a domain name', domain('localhost')],
    ['an IPv6 address that is an IPv4 one', ipv6(mapped)],
  ])('connects to %s', async (_, address) => {
    await using world = await openLab()
    const { proxy, ipCheckUrl } = world.lab.line
    const port = Number(new URL(ipCheckUrl).port)
    const { answers, socket } = await sendSocks(proxy[kind], { ca: world.ca, address, port })
    expect(answers).toEqual(['0502', '0100', ok])
    expect((await ask(ipCheckUrl, { socket })).text).toMatch(/^\{"ip":"127\.0\.0\.[23]"\}$/)
  })

  it('refuses a client that does not offer username and password', async () => {
    await using world = await openLab()
    const asked = { ca: world.ca, address: ipv4('127.0.0.1'), port: 1 }
    const { answers, socket } = await sendSocks(world.lab.line.proxy[kind], { ...asked, methods: [0] })
    expect(answers).toEqual(['05ff'])
    expect(await ending(socket)).toBe('fin')
    expect((await sendSocks(world.lab.line.proxy[kind], { ...asked, methods: [] })).answers).toEqual(['05ff'])
  })

  it('picks username and password among several methods', async () => {
    await using world = await openLab()
    const { proxy, ipCheckUrl } = world.lab.line
    const port = Number(new URL(ipCheckUrl).port)
    const asked = { ca: world.ca, address: ipv4('127.0.0.1'), port, methods: [0, 1, 2] }
    expect((await sendSocks(proxy[kind], asked)).answers).toEqual(['0502', '0100', ok])
  })

  it('refuses wrong credentials, and closes', async () => {
    await using world = await openLab()
    const asked = { ca: world.ca, address: ipv4('127.0.0.1'), port: 1 }
    const encoded = new URL(world.lab.line.proxy.http).password
    for (const wrong of [{ password: 'wrong' }, { username: 'nobody' }, { password: encoded }]) {
      const { answers, socket } = await sendSocks(world.lab.line.proxy[kind], { ...asked, ...wrong })
      expect(answers).toEqual(['0502', '0101'])
      expect(await ending(socket)).toBe('fin')
    }
  })

  it.each([
    ['another address than this machine’s', ipv4('192.0.2.1'), 80, 1, '02'],
    ['a name that it cannot resolve', domain('nowhere.example'), 80, 1, '04'],
    ['an IPv6 address', ipv6([0, 0, 0, 0, 0, 0, 0, 1]), 80, 1, '04'],
    ['a port where nobody listens', ipv4('127.0.0.1'), 1, 1, '05'],
    ['BIND', ipv4('127.0.0.1'), 80, 2, '07'],
    ['UDP ASSOCIATE', ipv4('127.0.0.1'), 80, 3, '07'],
    ['an unknown address type', Buffer.from([9]), 80, 1, '08'],
  ])('answers %s with its reply code', async (_, address, port, command, code) => {
    await using world = await openLab()
    const { answers, socket } = await sendSocks(world.lab.line.proxy[kind], { ca: world.ca, address, port, command })
    expect(answers[2]).toBe(`05${code}0001000000000000`)
    expect(await ending(socket)).toBe('fin')
  })
})

it('answers HTTP at the SOCKS port with "no acceptable method"', async () => {
  await using world = await openLab()
  const socket = connect(Number(new URL(world.lab.line.proxy.socks5.replace('socks5', 'http')).port), '127.0.0.1')
  socket.write('CONNECT localhost:443 HTTP/1.1\r\n\r\n')
  expect((await readSome(socket)).toString('hex')).toBe('05ff')
  expect(await ending(socket)).toMatch(/fin|rst/)
})

it('takes a handshake that arrives byte by byte', async () => {
  await using world = await openLab()
  const { proxy, ipCheckUrl } = world.lab.line
  const url = new URL(proxy.socks5.replace('socks5', 'http'))
  const socket = connect({ port: Number(url.port), host: '127.0.0.1', noDelay: true })
  const [username, password] = [url.username, url.password].map(part => Buffer.from(decodeURIComponent(part)))
  const port = Buffer.alloc(2)
  port.writeUInt16BE(Number(new URL(ipCheckUrl).port))
  const whole = Buffer.concat([
    Buffer.from([5, 1, 2]),
    Buffer.from([1, username?.length ?? 0]),
    username ?? Buffer.alloc(0),
    Buffer.from([password?.length ?? 0]),
    password ?? Buffer.alloc(0),
    Buffer.from([5, 1, 0]),
    ipv4('127.0.0.1'),
    port,
  ])
  let answer = Buffer.alloc(0)
  for (const byte of whole) await new Promise<void>(resolve => void socket.write(Buffer.from([byte]), () => resolve()))
  while (answer.length < 14) answer = Buffer.concat([answer, await readSome(socket)])
  expect(answer.toString('hex')).toBe(`05020100${ok}`)
  expect((await ask(ipCheckUrl, { socket })).status).toBe(200)
})
