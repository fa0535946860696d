// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ingest } from '../../../src/index.js'
import { type LabWorld, startLabWorld } from '../../contracts/lab-world.js'
import { documents, newIndex, through } from '../../contracts/options.js'

let world: LabWorld
beforeAll(async () => {
  world = await startLabWorld()
})
afterAll(async () => await world[Symbol.asyncDispose]())

test('a proxy that takes longer for CONNECT than a connection usually may works with a longer time limit', async () => {
  world.lab.control.plant({ latencyMs: 11_000 })
  const way = through(world, world.proxy.http, 'http')
  const load = {
    ...way,
    proxy: { url: world.proxy.socks5 },
    preflightConnections: 1,
    index: newIndex(),
  }
  await expect(ingest({ ...load, source: documents(1) })).rejects.toMatchObject({ code: 'PROXY_TIMEOUT' })
  expect((await ingest({ ...load, source: documents(1), timeoutMs: 120_000 })).created).toBe(1)
  world.lab.control.heal()
})

test('a gateway with a limit is named, and the load waits for it', async () => {
  world.lab.control.plant({ rate: { perSecond: 4 } })
  const warnings: string[] = []
  const receipt = await ingest({
    ...through(world, world.proxy.http),
    source: documents(20),
    index: newIndex(),
    batchDocs: 5,
    onEvent: event => event.type === 'warning' && warnings.push(event.message),
  })
  expect(receipt.created).toBe(20)
  expect(warnings).toEqual([expect.stringContaining('a gateway in front of')])
  world.lab.control.heal()
})
