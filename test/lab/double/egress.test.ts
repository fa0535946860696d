// @module-tag long
import { once } from 'node:events'
import { Agent, createServer } from 'node:http'
import { type AddressInfo, type Socket, connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import {
  ask,
  askForward,
  askThrough,
  ending,
  openLab,
  readSome,
  sendConnect,
  sendSocks,
  socksAddress,
} from '../../support/lab/lab-clients.js'

/** Both ways of the lab to show an egress address. */
const modes = [
  { mode: 'loopback', virtualEgress: false },
  { mode: 'virtual', virtualEgress: true },
]

function ipOf({ text }: { text: string }): string {
  return (JSON.parse(text) as { ip: string }).ip
}

describe.each(modes)('with $mode egress', ({ mode, virtualEgress }) => {
  it('says so, and names the pair', async () => {
    await using world = await openLab({ virtualEgress })
    expect(world.lab.line).toMatchObject({ egress: mode, staticIps: ['127.0.0.2', '127.0.0.3'] })
  })

  it('chooses either address for each tunnel, and keeps it for the tunnel', async () => {
    await using world = await openLab({ virtualEgress })
    const { line, control } = world.lab
    const seen: string[] = []
    for (let i = 0; i < 40; i++) {
      const { port } = new URL(line.ipCheckUrl)
      const { socket } = await sendConnect(line.proxy.http, `localhost:${port}`, { ca: world.ca })
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      agent.createConnection = () => socket
      const ips = [await ask(line.ipCheckUrl, { agent }), await ask(line.ipCheckUrl, { agent })].map(ipOf)
      expect(new Set(ips).size).toBe(1)
      seen.push(ips[0] ?? '')
      agent.destroy()
    }
    // Forty coins that all fall on one side: once in 5e11 runs.
    expect([...new Set(seen)].sort()).toEqual(['127.0.0.2', '127.0.0.3'])
    const tunnels = control.connections().filter(({ at }) => at === 'proxy')
    expect(tunnels.map(({ egress }) => egress)).toEqual(seen)
    const checks = control.connections().filter(({ at }) => at === 'ip-check')
    expect(checks.map(({ from, requests }) => [from, requests])).toEqual(seen.map(ip => [ip, 2]))
  })

  it('shows the address of every kind of port, to http and https targets', async () => {
    await using world = await openLab({ virtualEgress, pick: 'round-robin' })
    const { line } = world.lab
    const options = { ca: world.ca }
    for (const proxy of [line.proxy.http, line.proxy.https]) {
      const ips = [
        await askThrough(proxy, line.ipCheckHttpsUrl, options),
        await askThrough(proxy, line.ipCheckHttpsUrl, options),
      ]
      expect(ips.map(ipOf).sort()).toEqual(line.staticIps)
      const plain = [
        await askThrough(proxy, line.ipCheckUrl, options),
        await askThrough(proxy, line.ipCheckUrl, options),
      ]
      expect(plain.map(ipOf).sort()).toEqual(line.staticIps)
    }
    for (const proxy of [line.proxy.socks5, line.proxy.socks5s]) {
      const ips: string[] = []
      for (const url of [line.ipCheckUrl, line.ipCheckHttpsUrl]) {
        const address = socksAddress.domain('localhost')
        const { socket } = await sendSocks(proxy, { ...options, address, port: Number(new URL(url).port) })
        ips.push(ipOf(await ask(url, { ...options, socket })))
      }
      expect(ips.sort()).toEqual(line.staticIps)
    }
  })

  it('always leaves from the same address at a single node', async () => {
    await using world = await openLab({ virtualEgress })
    const { line } = world.lab
    for (const [i, node] of line.proxy.nodes.entries()) {
      for (let round = 0; round < 8; round++) {
        expect(ipOf(await askThrough(node, line.ipCheckUrl, { ca: world.ca }))).toBe(line.staticIps[i])
        expect(ipOf(await askThrough(node, line.ipCheckHttpsUrl, { ca: world.ca }))).toBe(line.staticIps[i])
      }
    }
  })

  it('shows 127.0.0.1 where the proxy is not used, whatever headers claim', async () => {
    await using world = await openLab({ virtualEgress })
    const { line } = world.lab
    const headers = { 'x-forwarded-for': '127.0.0.2', forwarded: 'for=127.0.0.2' }
    expect(ipOf(await ask(line.ipCheckUrl, { headers }))).toBe('127.0.0.1')
    expect(ipOf(await ask(line.ipCheckHttpsUrl, { headers, ca: world.ca }))).toBe('127.0.0.1')
  })
})

describe('virtual egress', () => {
  it('does not believe an address that somebody other than the proxy announces', async () => {
    await using world = await openLab({ virtualEgress: true, register: 'both' })
    const { port } = new URL(world.lab.line.cluster.httpUrl)
    const socket = connect(Number(port), '127.0.0.1')
    socket.write('PROXY TCP4 127.0.0.2 127.0.0.1 0 1\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n')
    expect(await ending(socket)).toMatch(/fin|rst/)
    expect(world.lab.control.connections()).toEqual([])
  })

  it('announces nothing to ports that are not the lab’s own', async () => {
    await using world = await openLab({ virtualEgress: true })
    await using other = await openLab({ virtualEgress: false })
    const { port } = new URL(other.lab.line.ipCheckUrl)
    const answer = await askThrough(world.lab.line.proxy.http, `http://127.0.0.1:${port}/`, { ca: world.ca })
    expect(ipOf(answer)).toBe('127.0.0.1')
  })
})

describe('forwarded http requests', () => {
  it('keep the address and the upstream connection of their client connection', async () => {
    await using world = await openLab()
    const { line, control } = world.lab
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ips = new Set<string>()
    for (let i = 0; i < 20; i++) {
      ips.add(ipOf(await askForward(line.proxy.http, line.ipCheckUrl, { ca: world.ca, agent, body: 'x' })))
    }
    expect(ips.size).toBe(1)
    expect(control.connections()).toMatchObject([
      { at: 'proxy', requests: 20 },
      { at: 'ip-check', requests: 20 },
    ])
    agent.destroy()
  })

  it('with a body leave from both addresses where egress is per upstream connection', async () => {
    await using world = await openLab({ egressPer: 'upstream' })
    const { line, control } = world.lab
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ips = new Set<string>()
    for (let i = 0; i < 40; i++) {
      ips.add(ipOf(await askForward(line.proxy.http, line.ipCheckUrl, { ca: world.ca, agent, body: 'x' })))
    }
    expect([...ips].sort()).toEqual(line.staticIps)
    expect(control.connections().filter(({ at }) => at === 'proxy')).toHaveLength(1)
    expect(control.connections().filter(({ at }) => at === 'ip-check')).toHaveLength(40)
    agent.destroy()
  })

  it('without a body stay on an idle upstream connection where egress is per upstream connection', async () => {
    await using world = await openLab({ egressPer: 'upstream' })
    const { line, control } = world.lab
    for (let i = 0; i < 20; i++) await askForward(line.proxy.http, line.ipCheckUrl, { ca: world.ca })
    expect(control.connections().filter(({ at }) => at === 'proxy')).toHaveLength(20)
    expect(control.connections().filter(({ at }) => at === 'ip-check')).toMatchObject([{ requests: 20 }])
  })

  it('without a body are asked again where the target closed the idle upstream connection in that instant', async () => {
    await using world = await openLab({ egressPer: 'upstream' })
    const met = new Map<Socket, number>()
    const target = createServer(({ socket }, response) => {
      const requests = (met.get(socket) ?? 0) + 1
      met.set(socket, requests)
      if (requests === 1) response.end('answered')
      else socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(target, 'listening')
    const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`
    const answers: (string | number)[] = []
    for (let i = 0; i < 3; i++) {
      const { status, text } = await askForward(world.lab.line.proxy.http, url, { ca: world.ca })
      answers.push(status, text)
    }
    expect(answers).toEqual([200, 'answered', 200, 'answered', 200, 'answered'])
    expect([...met.values()]).toEqual([2, 2, 1])
    target.closeAllConnections()
    target.close()
  })
})

describe('a node that is down', () => {
  it('resets what would leave from it, at its own port and at the pair’s', async () => {
    await using world = await openLab({ pick: 'round-robin' })
    const { line, control } = world.lab
    control.plant({ nodeDown: { node: 'first' } })
    await expect(askThrough(line.proxy.nodes[0], line.ipCheckUrl, { ca: world.ca })).rejects.toThrow()
    expect(ipOf(await askThrough(line.proxy.nodes[1], line.ipCheckUrl, { ca: world.ca }))).toBe('127.0.0.3')
    const outcomes: string[] = []
    for (let i = 0; i < 4; i++) {
      const asked = askThrough(line.proxy.http, line.ipCheckUrl, { ca: world.ca })
      outcomes.push(await asked.then(ipOf, () => 'lost'))
    }
    expect(outcomes.sort()).toEqual(['127.0.0.3', '127.0.0.3', 'lost', 'lost'])
  })

  it('is left out by the pair’s ports with failover', async () => {
    await using world = await openLab()
    const { line, control } = world.lab
    control.plant({ nodeDown: { node: 'second', failover: true } })
    for (let i = 0; i < 12; i++) {
      expect(ipOf(await askThrough(line.proxy.https, line.ipCheckHttpsUrl, { ca: world.ca }))).toBe('127.0.0.2')
    }
    await expect(askThrough(line.proxy.nodes[1], line.ipCheckUrl, { ca: world.ca })).rejects.toThrow()
    control.heal()
    expect(ipOf(await askThrough(line.proxy.nodes[1], line.ipCheckUrl, { ca: world.ca }))).toBe('127.0.0.3')
  })
})

it('forwards what a client sends before the tunnel stands', async () => {
  await using world = await openLab()
  const { port } = new URL(world.lab.line.ipCheckUrl)
  const early = 'GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'
  const { status, socket } = await sendConnect(world.lab.line.proxy.http, `localhost:${port}`, { ca: world.ca, early })
  expect(status).toBe(200)
  expect((await readSome(socket)).toString()).toContain('HTTP/1.1 200 OK')
})
