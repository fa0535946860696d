import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connect, ingest, undo, verify } from '../../src/index.js'
import { failureOf, loadThrough, newIndex } from '../contracts/options.js'
import type { RealWorld } from '../contracts/real-world.js'

/** Keys that may not search where documents are: a search through a list of names shows nothing, and no error. */
export function describeHiddenFromKeys(world: () => RealWorld): void {
  describe('a key that may not search where the documents are', () => {
    let folder: string
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'hidden-'))
    })
    afterEach(async () => await rm(folder, { recursive: true }))

    const way = (apiKey = world().cluster.apiKey) => {
      const { deadLetters: _, target, ...rest } = loadThrough(world(), world().proxy.http)
      return { ...rest, target: { ...target, apiKey }, preflightConnections: 1 }
    }

    async function keyFor(names: readonly string[], privileges: readonly string[]): Promise<string> {
      const { username, password } = world().cluster
      const { target, ...rest } = way()
      await using admin = await connect({ ...rest, target: { ...target, apiKey: undefined, username, password } })
      const indices = [{ names: [...names], privileges: [...privileges] as 'read'[] }]
      const { encoded } = await admin.client.security.createApiKey({
        name: newIndex('key'),
        role_descriptors: { key: { cluster: ['monitor'], indices } },
      })
      return encoded
    }

    const source = async (of: (n: number) => string) => {
      const path = join(folder, 'a.ndjson')
      await writeFile(path, Array.from({ length: 6 }, (_, n) => `${of(n)}\n`).join(''))
      return path
    }

    test('because of the filter of an alias: verify and undo refuse, and nothing is deleted', async () => {
      const [index, alias] = [newIndex(), newIndex('filtered')]
      {
        await using direct = await connect(way())
        await direct.client.indices.create({ index, aliases: { [alias]: { filter: { term: { n: 1 } } } } })
      }
      const key = await keyFor([alias], ['read', 'write', 'view_index_metadata', 'maintenance'])
      const given = { ...way(key), source: await source(n => `{"n":${n}}`), index: alias, stateDir: folder }
      const { run } = await ingest({ ...given, deadLetters: false })
      for (const ask of [verify, undo]) {
        expect(await failureOf(ask({ ...way(key), run, stateDir: folder }))).toMatchObject({
          code: 'CLUSTER_PRIVILEGE_MISSING',
          evidence: {
            reason: `${alias} is an alias that hides documents, so Sluice cannot look them up without read on ${index}`,
          },
        })
      }
      expect(await world().count(index)).toBe(6)
      // This one cannot even show that the alias has a filter.
      const blind = await keyFor([alias], ['read', 'write'])
      const seen = await verify({ ...way(blind), run, stateDir: folder })
      expect(seen).toMatchObject({ ok: false, found: 1, missing: 5 })
      expect(seen.notes).toContainEqual(expect.stringContaining(`whether ${alias} is an alias with a filter`))
      expect(await undo({ ...way(blind), run, stateDir: folder })).toMatchObject({ isComplete: false, deleted: 0 })
      expect(await world().count(index)).toBe(6)
      expect(await undo({ ...way(), run, stateDir: folder })).toMatchObject({ isComplete: true, deleted: 6 })
    })

    test('because the key may only write into the indices that documents name', async () => {
      const index = newIndex('least')
      const key = await keyFor([`${index}-*`], ['create_doc', 'auto_configure', 'maintenance', 'view_index_metadata'])
      const given = {
        ...way(key),
        source: await source(n => `{"of":"${n % 2}"}`),
        index: `${index}-{of}`,
        stateDir: folder,
      }
      const { run, created } = await ingest({ ...given, deadLetters: false })
      expect(created).toBe(6)
      expect(await failureOf(verify({ ...way(key), run, stateDir: folder }))).toMatchObject({
        code: 'CLUSTER_PRIVILEGE_MISSING',
        evidence: { missing: ['read'] },
      })
      expect(await verify({ ...way(), run, stateDir: folder })).toMatchObject({ ok: true, found: 6 })
    })
  })
}
