import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixesFor, isSluiceError } from '../../../src/base/failure/failure.js'
import { ingest } from '../../../src/index.js'
import { failureOf, loadThrough } from '../../contracts/options.js'
import { type LabWorld, startLabWorld } from '../../contracts/lab-world.js'

let world: LabWorld
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'streams-'))
  world = await startLabWorld({ register: 'everyone', clusters: 2 })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

async function asked(to: 'old' | 'new', method: string, path: string, body?: object): Promise<void> {
  const { cluster, otherCluster = cluster } = world.lab.line
  const { httpUrl, apiKey } = to === 'old' ? otherCluster : cluster
  const { ok, status } = await fetch(httpUrl + path, {
    method,
    headers: { authorization: `ApiKey ${apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!ok) throw new Error(`${method} ${path}: ${status}`)
}

const move = async () => {
  const { httpUrl: url, apiKey } = world.lab.line.otherCluster ?? world.lab.line.cluster
  return await ingest({
    ...loadThrough(world, world.proxy.http),
    preflightConnections: 1,
    source: 'elasticsearch:events',
    from: { url, apiKey },
    index: '{_index}',
    mapping: 'copy',
    stateDir: join(folder, 'state'),
    deadLetters: false,
  })
}

test('a data stream is copied only if an index template of the target makes one', async () => {
  await asked('old', 'PUT', '/_index_template/events', { index_patterns: ['events'], data_stream: {} })
  await asked('old', 'POST', '/events/_create/1', { '@timestamp': '2026-11-21' })
  const none = await failureOf(move())
  const missing = 'no matching index template found for data stream [events]'
  expect(none).toMatchObject({ code: 'MAPPING_NOT_COPIED', evidence: { reason: missing } })
  await asked('new', 'PUT', '/_index_template/plain', { index_patterns: ['events*'] })
  const plain = await failureOf(move())
  expect(plain.evidence['reason']).toMatch(/^matching index template \[plain\] .* has no data stream template$/)
  expect(world.lab.control.indices()).toEqual([])
  await asked('new', 'PUT', '/_index_template/events', { index_patterns: ['events'], data_stream: {}, priority: 9 })
  expect(await move()).toMatchObject({ created: 1, indices: [{ index: 'events' }] })
  expect(world.lab.control.indices()).toMatchObject([{ name: expect.stringMatching(/^\.ds-events-/) as string }])
})

test('refused credentials of the cluster that is read name their own options', async () => {
  const { httpUrl: url } = world.lab.line.otherCluster ?? world.lab.line.cluster
  const refused: unknown = await ingest({
    ...loadThrough(world, world.proxy.http),
    source: 'elasticsearch:events',
    from: { url, apiKey: 'eDp5' },
    index: 'events',
    stateDir: join(folder, 'refused'),
  }).catch((error: unknown) => error)
  if (!isSluiceError(refused)) throw refused
  const { code, message, evidence } = refused.failure
  expect(message).toContain(`${new URL(url).origin} (--from) refused the credentials`)
  expect(evidence['side']).toBe('from')
  expect(fixesFor(code, message)).toEqual([expect.stringContaining('SLUICE_FROM_API_KEY')])
})

test('a privilege that the credentials of the cluster that is read lack is named for that cluster', async () => {
  const { cluster: origin, otherCluster: target = origin } = world.lab.line
  await asked('new', 'POST', '/guarded/_create/1', { n: 1 })
  world.lab.control.limitApiKey({ prefix: 'others-', privileges: ['read'] })
  try {
    const refused = await failureOf(
      ingest({
        ...loadThrough(world, world.proxy.http),
        preflightConnections: 1,
        target: { url: target.httpUrl, apiKey: target.apiKey },
        source: 'elasticsearch:guarded',
        from: { url: origin.httpUrl, apiKey: origin.apiKey },
        index: 'guarded',
        stateDir: join(folder, 'guarded'),
      }),
    )
    expect(refused).toMatchObject({ code: 'CLUSTER_PRIVILEGE_MISSING', evidence: { side: 'from' } })
    const { message } = refused as unknown as { message: string }
    expect(message).toContain(`${new URL(origin.httpUrl).origin} (--from)`)
    expect(fixesFor('CLUSTER_PRIVILEGE_MISSING', message)).toEqual([
      expect.stringContaining('Grant the credentials of --from read and view_index_metadata'),
    ])
  } finally {
    world.lab.control.limitApiKey()
  }
})
