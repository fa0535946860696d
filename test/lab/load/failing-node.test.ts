import { connect, createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ingest } from '../../../src/index.js'
import { type LabWorld, startLabWorld } from '../../contracts/lab-world.js'
import { newIndex, loadThrough } from '../../contracts/options.js'

let world: LabWorld
beforeAll(async () => {
  world = await startLabWorld()
})
afterAll(async () => await world[Symbol.asyncDispose]())

test(
  'a node of the proxy that fails in the middle of a load is told once, and the load continues over the other',
  { tags: 'long' },
  async () => {
    let isFailing = false
    let turn = 0
    const open = new Set<Socket>()
    const front = createServer(client => {
      client.on('error', () => {})
      if (isFailing && turn++ % 4 !== 3) return void client.resetAndDestroy()
      open.add(client)
      const proxy = connect(Number(new URL(world.proxy.nodes[0]).port), '127.0.0.1')
      proxy.on('error', () => client.destroy())
      client.on('close', () => proxy.destroy())
      proxy.on('close', () => client.destroy())
      client.pipe(proxy).pipe(client)
    }).listen(0, '127.0.0.1')
    await once(front, 'listening')
    const url = new URL(world.proxy.nodes[0])
    url.port = String((front.address() as AddressInfo).port)
    function* documents() {
      for (let n = 0; n < 4_000; n += 1) {
        // The node takes its connections with it.
        if (n % 1_000 === 999) {
          isFailing = true
          for (const socket of open) socket.destroy()
          open.clear()
        }
        yield { n }
      }
    }
    const warnings: string[] = []
    const receipt = await ingest({
      ...loadThrough(world, url.href.replace(/\/$/, '')),
      source: documents(),
      index: newIndex(),
      batchDocs: 50,
      concurrency: 4,
      onEvent: event => event.type === 'warning' && warnings.push(event.message),
    })
    front.close()
    for (const socket of open) socket.destroy()
    expect(receipt.created).toBe(4_000)
    const told = warnings.filter(text => text.includes('new connections failed at the proxy'))
    expect(told).toEqual([expect.stringMatching(/and others work: .*One node of the proxy may be down/)])
    expect(receipt.notes).toEqual(expect.arrayContaining(told))
  },
)
