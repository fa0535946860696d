import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, ingest, verify } from '../../src/index.js'
import { newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** Ingest pipelines that drop documents: the item answers status 200 and `noop`, and nothing is stored. */
export function describePipelines(world: () => World): void {
  const pipeline = `drops-even-${Date.now()}`
  let folder: string
  const way = () => loadThrough(world(), world().proxy.http)
  const withAdmin = async (run: (client: Awaited<ReturnType<typeof connect>>['client']) => Promise<unknown>) => {
    const { deadLetters: _, target, ...rest } = way()
    const { username, password } = world().cluster
    await using admin = await connect({
      ...rest,
      target: { ...target, apiKey: undefined, username, password },
      preflightConnections: 1,
    })
    await run(admin.client)
  }

  describe('a pipeline that drops documents', () => {
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'pipelines-'))
      const processors = [{ drop: { if: 'ctx.n % 2 == 0' } }]
      await withAdmin(async client => await client.ingest.putPipeline({ id: pipeline, processors }))
    })
    afterAll(async () => {
      await withAdmin(async client => await client.ingest.deletePipeline({ id: pipeline }))
      await rm(folder, { recursive: true })
    })

    const lines = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, at) => `{"n":${from + at}}\n`).join('')
    const numbersIn = async (index: string) =>
      (await world().documents(index)).map(text => (JSON.parse(text) as { n: number }).n).toSorted((a, b) => a - b)

    test.each(['create', 'index'] as const)('is counted, and verified, with op %s', async op => {
      const index = newIndex()
      const source = join(folder, `${op}.ndjson`)
      await writeFile(source, lines(1, 5))
      const stateDir = join(folder, `state-${op}`)
      const receipt = await ingest({ ...way(), source, index, op, pipeline, stateDir })
      expect(receipt).toMatchObject({ read: 5, created: 3, updated: 0, duplicate: 0, dropped: 2, rejected: 0, exit: 0 })
      expect(await numbersIn(index)).toEqual([1, 3, 5])
      const { deadLetters: _, ...direct } = way()
      const seen = await verify({ ...direct, run: receipt.run, stateDir })
      expect(seen).toMatchObject({ ok: true, found: 3, dropped: 2, missing: 0 })
    })

    test('is counted if it is the default of the index, also for documents that replace others', async () => {
      const index = newIndex()
      const first = join(folder, 'first.ndjson')
      await writeFile(first, lines(1, 4))
      await withAdmin(async client => await client.indices.create({ index, settings: { default_pipeline: pipeline } }))
      const options = {
        ...way(),
        index,
        op: 'index',
        ids: 'field',
        idField: 'n',
        stateDir: join(folder, 'state'),
      } as const
      expect(await ingest({ ...options, source: first })).toMatchObject({ created: 2, dropped: 2, exit: 0 })
      const second = join(folder, 'second.ndjson')
      await writeFile(second, lines(2, 6))
      expect(await ingest({ ...options, source: second })).toMatchObject({
        read: 5,
        created: 1,
        updated: 1,
        dropped: 3,
      })
      expect(await numbersIn(index)).toEqual([1, 3, 5])
      // A pipeline in use cannot be deleted.
      const settings = { default_pipeline: '_none' }
      await withAdmin(async client => await client.indices.putSettings({ index, settings }))
    })

    test('is counted for the actions of a _bulk file', async () => {
      const index = newIndex()
      const source = join(folder, 'actions.txt')
      const action = (name: string, n: number) => `{"${name}":{"_id":"${n}"}}\n{"n":${n}}\n`
      await writeFile(source, action('create', 1) + action('create', 2) + action('index', 3) + action('index', 4))
      expect(await ingest({ ...way(), source, index, pipeline, stateDir: join(folder, 'state-bulk') })).toMatchObject({
        read: 4,
        created: 2,
        dropped: 2,
        exit: 0,
      })
      expect(await numbersIn(index)).toEqual([1, 3])
    })
  })
}
