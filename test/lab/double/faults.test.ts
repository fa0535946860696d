// @module-tag long
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { Agent } from 'node:http'
import {
  ask,
  askForward,
  askThrough,
  basic,
  dial,
  ending,
  openLab,
  readExactly,
  sendConnect,
  sendSocks,
  socksAddress,
} from '../../support/lab/lab-clients.js'

const bulkBody = '{"index":{"_index":"i","_id":"1"}}\n{"a":1}\n{"index":{"_index":"i","_id":"2"}}\n{"a":2}\n'

describe('a handshake fault', () => {
  it.each(['fin', 'rst'] as const)('ends CONNECT, forwarded requests and SOCKS5 with %s', async kind => {
    await using world = await openLab()
    const { control, line } = world.lab
    control.plant({ handshake: { kind } })
    const connectLine = `CONNECT localhost:1 HTTP/1.1\r\nhost: x\r\nproxy-authorization: ${basic(line.proxy.http)}\r\n\r\n`
    for (const proxy of [line.proxy.http, line.proxy.https]) {
      const socket = await dial(proxy, world.ca)
      const ended = ending(socket)
      socket.write(connectLine)
      expect(await ended).toBe(kind)
    }
    await expect(askForward(line.proxy.http, line.ipCheckUrl, { ca: world.ca })).rejects.toThrow()
    const asked = { ca: world.ca, address: socksAddress.ipv4('127.0.0.1'), port: 1 }
    await expect(sendSocks(line.proxy.socks5, asked)).rejects.toThrow(kind === 'rst' ? /ECONNRESET/ : /ended/)
    await expect(sendSocks(line.proxy.socks5s, asked)).rejects.toThrow()
    expect(control.connections().filter(({ at }) => at !== 'proxy')).toEqual([])
  })

  it('keeps silent until the client goes', async () => {
    await using world = await openLab()
    const { control, line } = world.lab
    control.plant({ handshake: { kind: 'silence', times: 1 } })
    const socket = await dial(line.proxy.http, world.ca)
    socket.write(`CONNECT localhost:1 HTTP/1.1\r\nhost: x\r\nproxy-authorization: ${basic(line.proxy.http)}\r\n\r\n`)
    let answered = false
    socket.on('data', () => (answered = true))
    // A second connection, answered after the fault has struck: by then the first would have had its answer too.
    expect((await askThrough(line.proxy.http, line.ipCheckUrl, { ca: world.ca })).status).toBe(200)
    expect([answered, socket.readyState]).toEqual([false, 'open'])
    socket.destroy()
  })

  it('strikes as often as it is told, after as many as it is told', async () => {
    await using world = await openLab()
    const { control, line } = world.lab
    control.plant({ handshake: { kind: 'fin', after: 2, times: 1 } })
    const outcomes: (number | 'lost')[] = []
    for (let i = 0; i < 5; i++) {
      const asked = askThrough(line.proxy.http, line.ipCheckUrl, { ca: world.ca })
      outcomes.push(
        await asked.then(
          ({ status }) => status,
          () => 'lost' as const,
        ),
      )
    }
    expect(outcomes).toEqual([200, 200, 'lost', 200, 200])
  })
})

describe('a cut tunnel', () => {
  it('delivers exactly the bytes it is told, then resets', async () => {
    let received = Buffer.alloc(0)
    const target = createServer(socket => {
      socket.on('error', () => {})
      socket.on('data', chunk => (received = Buffer.concat([received, chunk])))
      socket.on('close', () => target.emit('gone'))
    })
    await new Promise<void>(resolve => void target.listen(0, '127.0.0.1', resolve))
    const gone = new Promise(resolve => target.once('gone', resolve))
    await using world = await openLab()
    world.lab.control.plant({ cut: { afterBytes: 100_000 } })
    const { port } = target.address() as AddressInfo
    const { socket } = await sendConnect(world.lab.line.proxy.http, `localhost:${port}`, { ca: world.ca })
    const ended = ending(socket)
    socket.write(Buffer.alloc(300_000, 'x'))
    expect(await ended).toBe('rst')
    await gone
    expect(received.length).toBe(100_000)
    target.close()
  })

  it('reaches no other tunnel once it has struck its times', async () => {
    await using world = await openLab()
    const { control, line } = world.lab
    control.plant({ cut: { afterBytes: 10, times: 1 } })
    const { socket } = await sendConnect(line.proxy.http, new URL(line.ipCheckUrl).host, { ca: world.ca })
    await expect(ask(line.ipCheckUrl, { socket })).rejects.toThrow()
    const { socket: next } = await sendConnect(line.proxy.http, new URL(line.ipCheckUrl).host, { ca: world.ca })
    expect((await ask(line.ipCheckUrl, { socket: next })).status).toBe(200)
  })
})

it('adds latency to a tunnel without losing a byte or their order', async () => {
  const target = createServer(socket => void socket.pipe(socket))
  await new Promise<void>(resolve => void target.listen(0, '127.0.0.1', resolve))
  await using world = await openLab()
  const { port } = target.address() as AddressInfo
  const open = async (): Promise<Socket> => {
    const { socket } = await sendConnect(world.lab.line.proxy.http, `localhost:${port}`, { ca: world.ca })
    return socket
  }
  world.lab.control.plant({ latencyMs: 200 })
  const slow = await open()
  world.lab.control.heal()
  const fast = await open()

  const sent = Buffer.from(Array.from({ length: 500_000 }, (_, i) => i % 251))
  const arrived: string[] = []
  slow.end(sent)
  const slowBack = readExactly(slow, sent.length).finally(() => arrived.push('slow'))
  fast.end(sent)
  const fastBack = readExactly(fast, sent.length).finally(() => arrived.push('fast'))
  expect((await slowBack).equals(sent)).toBe(true)
  expect((await fastBack).equals(sent)).toBe(true)
  expect(arrived).toEqual(['fast', 'slow'])
  target.close()
})

it('refuses the old password once credentials are rotated', async () => {
  await using world = await openLab()
  const { control, line: before } = world.lab
  const open = new Agent({ keepAlive: true, maxSockets: 1 })
  expect((await askForward(before.proxy.http, before.ipCheckUrl, { ca: world.ca, agent: open })).status).toBe(200)
  const after = control.rotateCredentials()
  expect(after.proxy.http).not.toBe(before.proxy.http)
  expect(world.lab.line).toEqual(after)
  expect(world.lab.env.STATIC_PROXY_URL).toBe(after.proxy.http)
  expect((await askForward(before.proxy.http, before.ipCheckUrl, { ca: world.ca, agent: open })).status).toBe(407)
  expect((await askForward(after.proxy.http, before.ipCheckUrl, { ca: world.ca })).status).toBe(200)
  open.destroy()
})

it('refuses right credentials where that is planted, and as often', async () => {
  await using world = await openLab()
  const { control, line } = world.lab
  control.plant({ login: { times: 3 } })
  expect((await sendConnect(line.proxy.http, 'localhost:1', { ca: world.ca })).status).toBe(407)
  expect((await askForward(line.proxy.http, line.ipCheckUrl, { ca: world.ca })).status).toBe(407)
  const asked = { ca: world.ca, address: socksAddress.ipv4('127.0.0.1'), port: 1 }
  expect((await sendSocks(line.proxy.socks5, asked)).answers).toEqual(['0502', '0101'])
  expect((await askThrough(line.proxy.http, line.ipCheckUrl, { ca: world.ca })).status).toBe(200)
})

it('filters from a bulk request on, and for so long every request', async () => {
  await using world = await openLab()
  const { control } = world.lab
  control.plant({ filter: { after: 1, forMs: 300 } })
  expect((await world.get('/')).status).toBe(200)
  expect((await world.bulk(bulkBody)).status).toBe(200)
  expect((await world.get('/')).status).toBe(200)
  expect(await world.bulk(bulkBody)).toMatchObject({
    status: 403,
    text: expect.stringContaining('traffic filtering') as string,
  })
  expect((await world.get('/')).status).toBe(403)
  await eventually(async () => expect((await world.get('/')).status).toBe(200))
  expect((await world.bulk(bulkBody)).status).toBe(200)
})

describe('a bulk fault', () => {
  it('answers as planted, and stores nothing', async () => {
    await using world = await openLab()
    const { control } = world.lab
    const headers = { 'content-type': 'text/html', 'retry-after': '7' }
    control.plant({ bulk: { status: 502, body: '<html>bad</html>', headers, times: 2 } })
    expect(await world.bulk(bulkBody)).toMatchObject({ status: 502, text: '<html>bad</html>', headers })
    expect((await world.bulk(bulkBody)).status).toBe(502)
    expect(control.count('i')).toBe(0)
    expect((await world.bulk(bulkBody)).status).toBe(200)
    expect(control.count('i')).toBe(2)
  })

  it('stores first where that is planted', async () => {
    await using world = await openLab()
    world.lab.control.plant({ bulk: { status: 504, stored: true, times: 1 } })
    expect((await world.bulk(bulkBody)).status).toBe(504)
    expect(world.lab.control.count('i')).toBe(2)
  })

  it('stores the first half first where that is planted', async () => {
    await using world = await openLab()
    const { control } = world.lab
    control.plant({ bulk: { status: 400, stored: 'half', times: 1 } })
    expect((await world.bulk(bulkBody)).status).toBe(400)
    expect(control.ids('i')).toEqual(['1'])
  })

  it('stores nothing of a single action whose first half is to be stored', async () => {
    await using world = await openLab()
    const { control } = world.lab
    control.plant({ bulk: { status: 413, stored: 'half', times: 1 } })
    expect((await world.bulk('{"index":{"_index":"i","_id":"1"}}\n{}\n')).status).toBe(413)
    expect(control.count('i')).toBe(0)
  })

  it('ends in time', async () => {
    await using world = await openLab()
    world.lab.control.plant({ bulk: { status: 503, forMs: 200 } })
    expect((await world.bulk(bulkBody)).status).toBe(503)
    await eventually(async () => expect((await world.bulk(bulkBody)).status).toBe(200))
  })

  it('refuses one item in so many', async () => {
    await using world = await openLab()
    world.lab.control.plant({ items: { status: 429, type: 'busy', after: 1, every: 3, times: 2 } })
    const answers: { readonly text: string }[] = []
    // One behind the other: the order of several at once is not fixed.
    for (let request = 0; request < 5; request += 1) answers.push(await world.bulk(bulkBody))
    const items = answers.flatMap(({ text }) => (JSON.parse(text) as { items: { index: { status: number } }[] }).items)
    const refused = items.flatMap(({ index }, at) => (index.status === 429 ? [at] : []))
    expect(refused).toEqual([1, 4])
  })

  it('refuses as many items as planted', async () => {
    await using world = await openLab()
    const { control } = world.lab
    const type = 'es_rejected_execution_exception'
    control.plant({ items: { status: 429, type, reason: 'rejected execution', after: 1, times: 2 } })
    const first = await world.bulk(bulkBody, '?filter_path=errors,items.*.status,items.*.error')
    expect(JSON.parse(first.text)).toEqual({
      errors: true,
      items: [{ index: { status: 201 } }, { index: { status: 429, error: { type, reason: 'rejected execution' } } }],
    })
    const second = await world.bulk(bulkBody, '?filter_path=items.*.status')
    expect(JSON.parse(second.text)).toEqual({ items: [{ index: { status: 429 } }, { index: { status: 201 } }] })
    expect(control.count('i')).toBe(2)
  })

  it('closes without an answer after storing', async () => {
    await using world = await openLab()
    world.lab.control.plant({ drop: { times: 1 } })
    await expect(world.bulk(bulkBody)).rejects.toThrow()
    expect(world.lab.control.count('i')).toBe(2)
    expect((await world.bulk(bulkBody)).status).toBe(200)
  })

  it('holds the answer back', async () => {
    await using world = await openLab()
    const { control } = world.lab
    control.plant({ hold: { times: 1, stored: true } })
    const held = expect(world.bulk(bulkBody)).rejects.toThrow()
    // The first to arrive is held: wait until it has.
    await eventually(() => expect(control.count('i')).toBe(2))
    const next = await world.bulk(bulkBody.replaceAll('"i"', '"j"'))
    expect(next.status).toBe(200)
    expect(control.count('j')).toBe(2)
    await world.lab.close()
    await held
  })

  it('stores the documents of a request late, after the client has given it up and the next one was answered', async () => {
    await using world = await openLab()
    const { control, line } = world.lab
    control.plant({ hold: { times: 1, stored: 'late' } })
    const socket = connect(Number(new URL(line.cluster.httpUrl).port), '127.0.0.1')
    const body = bulkBody.replaceAll('"i"', '"late"')
    const authorization = `authorization: ApiKey ${line.cluster.apiKey}`
    socket.write(`POST /_bulk HTTP/1.1\r\nhost: x\r\n${authorization}\r\ncontent-type: application/json\r\n`)
    socket.write(`content-length: ${body.length}\r\n\r\n${body}`)
    await eventually(() => expect(control.struck('hold')).toBe(1))
    await world.bulk(bulkBody)
    expect(control.count('late')).toBe(0)
    socket.destroy()
    await eventually(async () => {
      await world.bulk(bulkBody)
      expect(control.count('late')).toBe(2)
    })
  })

  it.each([
    ['cut', true],
    ['cut', false],
    ['short', true],
    ['short', false],
    ['repeated', true],
    ['fewer', true],
  ] as const)('damages an answer: %s, and stores the documents: %s', async (how, stored) => {
    await using world = await openLab()
    const { control } = world.lab
    control.plant({ damage: { how, stored, times: 1 } })
    const answer = await world.bulk(bulkBody).catch(() => 'lost' as const)
    expect(control.count('i')).toBe(stored ? 2 : 0)
    if (answer === 'lost') expect(how).toBe('cut')
    else if (how === 'fewer') expect((JSON.parse(answer.text) as { items: unknown[] }).items).toHaveLength(1)
    else expect(() => JSON.parse(answer.text) as unknown).toThrow(SyntaxError)
    expect((await world.bulk(bulkBody)).status).toBe(200)
  })

  it('tells documents as kept in the failure store', async () => {
    await using world = await openLab()
    world.lab.control.plant({ failureStore: { times: 1 } })
    const { items, errors } = JSON.parse((await world.bulk(bulkBody)).text) as { items: unknown[]; errors: boolean }
    expect([errors, items[0]]).toMatchObject([
      false,
      { index: { _index: '.fs-i-2025.05.01-000002', failure_store: 'used', status: 201 } },
    ])
    expect(items[1]).not.toHaveProperty('index.failure_store')
  })
})

it('answers as an edge that does not know the host, or whose deployment is away', async () => {
  await using world = await openLab({ register: 'none' })
  const { control, line } = world.lab
  control.plant({ edge: 'unknown-resource' })
  const unknown = await ask(line.cluster.httpUrl)
  expect(unknown).toMatchObject({ status: 404, text: '{"ok":false,"message":"Unknown resource."}' })
  expect(unknown.headers).toHaveProperty('x-cloud-request-id')
  control.plant({ edge: 'unavailable' })
  const away = await ask(line.cluster.httpUrl)
  expect(away.status).toBe(503)
  expect(away.text).toBe('{"ok":false,"message":"The requested resource is currently unavailable."}\n')
  control.heal()
  expect((await ask(line.cluster.httpUrl)).status).toBe(403)
})

it('refuses bulk requests beyond its capacity, and takes them again when others are done', async () => {
  await using world = await openLab()
  world.lab.control.plant({ capacity: { inFlight: 2, tookMs: 3000 } })
  const bodies = Array.from({ length: 4 }, async () => await world.bulk(bulkBody))
  const statuses = (await Promise.all(bodies)).map(({ status }) => status)
  expect(statuses.filter(status => status === 200)).toHaveLength(2)
  expect(statuses.filter(status => status === 429)).toHaveLength(2)
  expect((await world.bulk(bulkBody)).status).toBe(200)
})

it('answers 413 without a body above the limit, and closes', async () => {
  await using world = await openLab()
  const { control } = world.lab
  control.setMaxContentBytes(bulkBody.length)
  expect((await world.bulk(bulkBody)).status).toBe(200)
  const refused = await world.bulk(`${bulkBody}\n`)
  expect(refused).toMatchObject({ status: 413, text: '', headers: { connection: 'close' } })
  expect(refused.headers).not.toHaveProperty('x-elastic-product')
})
