import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ingest, type IngestEvent, type IngestOptions, isSluiceError } from '../../../src/index.js'
import { type LabWorld, startLabWorld } from '../../contracts/lab-world.js'
import { type PlayedEnd, startFront } from '../../contracts/mixing-front.js'
import { documents, loadThrough, newIndex } from '../../contracts/options.js'
import { answering, closedPort, listen } from '../../diagnosis/listeners.js'

/** What a load does if its target is not there when it begins. */
let world: LabWorld
beforeAll(async () => {
  world = await startLabWorld()
})
afterAll(async () => await world[Symbol.asyncDispose]())
afterEach(() => world.lab.control.heal())

const nowhere = { barred: 1, busy: 1, unwell: 1, tls: 1, foreign: 1, credentials: 1 }

async function load(more: Partial<IngestOptions>, onWarning: (message: string) => void = () => {}) {
  const told: string[] = []
  const onEvent = (event: IngestEvent) => {
    if (event.type !== 'warning') return
    told.push(event.message)
    onWarning(event.message)
  }
  const way = loadThrough(world, world.proxy.http)
  const given = { source: documents(20), index: newIndex(), ...way, ...more, onEvent }
  const end = await ingest(given).then(
    ({ created }) => created,
    (error: unknown) => {
      if (!isSluiceError(error)) throw error
      return error
    },
  )
  return { end, told }
}

describe('a load whose target comes back', () => {
  test.each([
    ['breaks connections', 'reset', 'The proxy may be restarting, or the host or port of its URL is wrong'],
    ['answers 503', 'unreached', 'The proxy may be restarting, or the host or port of the cluster URL is wrong'],
    ['has no room', 'limited', 'no more connections'],
  ] as const)('waits for a proxy that %s, and says so once', async (_, end: PlayedEnd, says) => {
    let isBack = false
    const choose = () => (isBack ? 'accepted' : end)
    await using front = await startFront({ nodes: world.proxy.nodes, ports: nowhere, choose })
    const { proxy } = loadThrough(world, front.url)
    expect(await load({ proxy }, () => (isBack = true))).toEqual({
      end: 20,
      told: [expect.stringContaining(says)],
    })
  })

  test('waits for a proxy whose port is closed, and for the cluster behind it', async () => {
    const port = await closedPort()
    const url = new URL(world.proxy.http)
    url.port = String(port)
    const { proxy } = loadThrough(world, url.href)
    const stopped = new AbortController()
    const { told } = await load({ proxy, signal: stopped.signal }, () => stopped.abort())
    expect(told).toEqual([expect.stringMatching(/ECONNREFUSED.*its URL is wrong\. Sluice retries for up to 15 min/)])

    world.lab.control.plant({ edge: 'unavailable' })
    const again = await load({}, () => world.lab.control.heal())
    expect(again).toEqual({
      end: 20,
      told: [expect.stringContaining('The cluster may be restarting, or the host or port of its URL is wrong')],
    })
  })

  test('retries no longer than --max-elapsed, and says how long', async () => {
    await using gone = await answering(503, 'gone')
    const target = { url: `http://127.0.0.1:${gone.port}`, apiKey: 'key' }
    const { end, told } = await load({ target, proxy: { direct: true }, maxElapsedMs: 600 })
    expect(end).toMatchObject({
      code: 'CLUSTER_UNAVAILABLE',
      message: expect.stringContaining('Sluice retried for') as string,
    })
    expect(told).toHaveLength(1)
    expect(await load({ target, proxy: { direct: true }, maxElapsedMs: 0 })).toMatchObject({
      end: { code: 'CLUSTER_UNAVAILABLE' },
      told: [],
    })
  })
})

describe('a load whose target has a wrong name or says nothing', () => {
  test.each([
    ['proxy', 'PROXY_UNREACHABLE'],
    ['cluster', 'CLUSTER_UNAVAILABLE'],
  ])('names a host of the %s that does not exist at once', async (which, code) => {
    const proxy = which === 'proxy' ? 'http://user:secret@proxy.invalid:9293' : { direct: true }
    const target = { ...loadThrough(world, '').target, url: 'https://cluster.invalid:9243' }
    expect(await load({ proxy, target })).toMatchObject({ end: { code }, told: [] })
  })

  test('says at once what it waits for, and when it ends', async () => {
    await using silent = await listen(() => {})
    const stopped = new AbortController()
    const target = { url: `http://127.0.0.1:${silent.port}`, apiKey: 'key' }
    const { told } = await load({ target, proxy: { direct: true }, signal: stopped.signal }, () => stopped.abort())
    const says = `http://127.0.0.1:${silent.port} has not answered yet. If no answer comes, Sluice stops within 1 min 5 s and names the cause`
    expect(told).toEqual([says])
  })
})
