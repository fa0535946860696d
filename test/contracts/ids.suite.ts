import { describe, expect, test } from 'vitest'
import { deleteDocuments } from '../../src/route/cluster/delete-found.js'
import { findDocuments } from '../../src/route/cluster/find-documents.js'
import { openCluster } from '../../src/route/cluster/open-cluster.js'
import { refresh } from '../../src/route/cluster/one-index.js'
import { walkIds } from '../../src/route/cluster/walk-ids.js'
import { type Removed, removeGone } from '../../src/features/tables/reconcile.js'
import { type Connected, connect, ingest } from '../../src/index.js'
import { proxySection } from '../../src/options/read-options.js'
import { resolveTarget, targetTls } from '../../src/route/connect/open-target.js'
import { documents, newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** Which ids an index holds: all of them at one instant, or what is known of some. */
export function describeIds(world: () => World): void {
  const base = () => ({ ...loadThrough(world(), world().proxy.http), preflightConnections: 1 })

  async function open() {
    const { target, proxy } = base()
    const way = resolveTarget({ target, proxy: proxySection(proxy) })
    return await openCluster({
      ...way,
      tls: targetTls(target),
      proxyTls: { ca: proxy.ca },
      connections: 2,
      timeoutMs: 60_000,
      preflightConnections: 1,
    })
  }

  async function ask<T>(question: (client: Connected['client']) => Promise<T>): Promise<T> {
    const { deadLetters: _, ...way } = base()
    await using direct = await connect(way)
    return await question(direct.client)
  }

  async function walk(index: string, onPage: () => Promise<void> = async () => await Promise.resolve()) {
    await using cluster = await open()
    await refresh(cluster, index)
    const begun: number[] = []
    const ids: string[] = []
    let requests = 0
    await walkIds(cluster, {
      index,
      step: async request => {
        requests += 1
        const answer = await request()
        if (requests === 2) await onPage()
        return answer
      },
      begin: count => begun.push(count),
      page: page => ids.push(...page),
    })
    return { begun, ids: ids.toSorted() }
  }

  const numbered = (count: number) => Array.from({ length: count }, (_, n) => `id-${n + 1}`)
  const load = async (index: string, count: number) =>
    await ingest({
      ...base(),
      source: [...documents(count)].map(({ n, message }) => {
        return { id: `id-${n}`, n, message, sys_class_name: n > 10 ? 'incident' : 'problem' }
      }),
      index,
      ids: 'field',
      idField: 'id',
    })

  describe('the ids of an index', () => {
    test('are walked loadThrough to the last, page by page, on every shard', async () => {
      const index = newIndex('ids')
      await ask(
        async client =>
          await client.indices.create({ index, settings: { number_of_shards: 3, number_of_replicas: 0 } }),
      )
      await load(index, 10_500)
      expect(await walk(index)).toEqual({ begun: [10_500], ids: numbered(10_500).toSorted() })
    })

    test('are those of one instant, whatever is written and deleted meanwhile', async () => {
      const index = newIndex('ids')
      await load(index, 6000)
      const seen = await walk(index, async () => {
        await ask(async client => {
          await client.delete({ index, id: 'id-1' })
          await client.delete({ index, id: 'id-6000' })
          await client.create({ index, id: 'id-6001', document: { n: 6001 }, refresh: true })
        })
      })
      expect(seen).toEqual({ begun: [6000], ids: numbered(6000).toSorted() })
      expect(await world().count(index)).toBe(5999)
    })

    test('are none where there is no index, or an empty one', async () => {
      const index = newIndex('ids')
      expect(await walk(index)).toEqual({ begun: [0], ids: [] })
      await ask(async client => await client.indices.create({ index }))
      expect(await walk(index)).toEqual({ begun: [0], ids: [] })
    })

    test('are walked loadThrough behind an alias of several indices', async () => {
      const [one, other, alias] = [newIndex('ids'), newIndex('ids'), newIndex('ids')]
      await load(one, 3)
      await load(other, 4)
      const actions = [one, other].map(index => ({ add: { index, alias } }))
      await ask(async client => await client.indices.updateAliases({ actions }))
      const ids = [...numbered(3), ...numbered(4)].toSorted()
      expect(await walk(alias)).toEqual({ begun: [7], ids })
    })

    test('are walked loadThrough anew where the point in time is lost', async () => {
      const index = newIndex('ids')
      await load(index, 5100)
      await using cluster = await open()
      await refresh(cluster, index)
      const begun: number[] = []
      let ids: string[] = []
      let isLost = false
      await walkIds(cluster, {
        index,
        step: async request => {
          const answer = await request()
          if (!isLost && ids.length === 0 && begun.length === 0 && isPage(answer)) {
            isLost = true
            await ask(async client => await client.closePointInTime({ id: answer.id }))
          }
          return answer
        },
        begin: count => {
          begun.push(count)
          ids = []
        },
        page: page => ids.push(...page),
      })
      expect(begun).toEqual([5100, 5100])
      expect(ids.toSorted()).toEqual(numbered(5100).toSorted())
    })
  })

  describe('documents that are looked up by id', () => {
    test('show the fields that are asked for, and are deleted unless they were written since', async () => {
      const index = newIndex('ids')
      await load(index, 4)
      await using cluster = await open()
      await refresh(cluster, index)
      const wanted = ['id-1', 'id-2', 'id-3', 'id-9'].map(id => ({ id }))
      const found = await findDocuments(cluster, { index, by: 'search', wanted, fields: ['n', 'other'] })
      if (found.kind !== 'found') throw new Error(found.failure.message)
      const inOrder = found.documents.toSorted((one, other) => one.id.localeCompare(other.id))
      expect(inOrder).toMatchObject(
        [1, 2, 3].map(n => ({ id: `id-${n}`, index, version: 1, primaryTerm: 1, fields: { n } })),
      )
      expect(inOrder[0]?.fields).toEqual({ n: 1 })
      const sought = await findDocuments(cluster, { index, by: 'id', wanted, fields: ['n', 'other'] })
      expect(sought).toEqual({ kind: 'found', documents: inOrder })
      await ask(async client => {
        await client.index({ index, id: 'id-2', document: { n: 22 } })
        await client.delete({ index, id: 'id-3' })
      })
      const answer = await deleteDocuments(cluster, { index, documents: inOrder, force: false })
      expect(answer).toMatchObject({ kind: 'done', outcomes: ['deleted', 'conflict', 'conflict'] })
      expect(await world().count(index)).toBe(2)
    })
  })

  describe('documents whose rows are gone', () => {
    test('are deleted on every shard, but for those that were written since they were found', async () => {
      for (const by of ['id', 'search'] as const) {
        const index = newIndex('ids')
        await ask(
          async client =>
            await client.indices.create({ index, settings: { number_of_shards: 2, number_of_replicas: 0 } }),
        )
        await load(index, 1200)
        await using cluster = await open()
        await refresh(cluster, index)
        const removed: Removed = { deleted: 0, there: 0, changed: 0, other: 0 }
        const ids = [...numbered(1100), 'nobody']
        await removeGone(
          ids,
          ({ fields }) => fields?.['sys_class_name'] === 'incident',
          {
            cluster,
            index,
            by,
            step: async take => await take(),
            there: async found => {
              expect(found).toHaveLength(1090)
              await ask(async client => {
                await client.index({ index, id: 'id-20', document: { n: 20 } })
                await client.delete({ index, id: 'id-21' })
              })
              return new Set(['id-30', 'id-31'])
            },
          },
          removed,
        )
        expect(removed).toEqual({ deleted: 1086, there: 2, changed: 1, other: 10 })
        expect(await world().count(index)).toBe(1200 - 1086 - 1)
        expect(await world().source(index, 'id-20')).toBe('{"n":20}')
      }
    })

    test('are deleted behind an alias, wherever they stand', async () => {
      const [one, other, alias] = [newIndex('ids'), newIndex('ids'), newIndex('ids')]
      await load(one, 3)
      await load(other, 4)
      const actions = [one, other].map(index => ({ add: { index, alias } }))
      await ask(async client => await client.indices.updateAliases({ actions }))
      await using cluster = await open()
      await refresh(cluster, alias)
      const removed: Removed = { deleted: 0, there: 0, changed: 0, other: 0 }
      const there = async () => await Promise.resolve(new Set<string>())
      const step = async <T>(take: () => Promise<T>) => await take()
      await removeGone(['id-2', 'id-4'], () => true, { cluster, index: alias, by: 'search', step, there }, removed)
      expect(removed).toEqual({ deleted: 3, there: 0, changed: 0, other: 0 })
      expect([await world().count(one), await world().count(other)]).toEqual([2, 2])
    })
  })
}

function isPage(answer: unknown): answer is { readonly id: string } {
  return typeof answer === 'object' && answer !== null && 'documents' in answer
}
