import { describe, expect, test } from 'vitest'
import { fail } from '../../../../src/base/failure/failure.js'
import { findBoundary } from '../../../../src/features/another-cluster/find-boundary.js'
import type { Cluster } from '../../../../src/route/cluster/open-cluster.js'

type Copy = readonly [primary: boolean, given: number, complete: number]

/** A cluster that answers `_stats` with these copies of each shard, one answer after the other. */
function clusterWith(answers: readonly (readonly (readonly Copy[])[])[], more: { unrefreshed?: string } = {}) {
  const asked: string[] = []
  const left = [...answers]
  const call = async ({ path }: { readonly path: string }) => {
    asked.push(path)
    const shards = left.length > 1 ? left.shift() : left[0]
    if (shards === undefined)
      throw fail('CLUSTER_PRIVILEGE_MISSING', { cluster: 'c', reason: 'no monitor', status: 403 })
    const copies = shards.map((of, shard) => [
      String(shard),
      of.map(([primary, max_seq_no, global_checkpoint]) => ({
        routing: { primary },
        seq_no: { max_seq_no, global_checkpoint },
      })),
    ])
    return await Promise.resolve({ json: { indices: { logs: { shards: Object.fromEntries(copies) as unknown } } } })
  }
  const refresh = async () => {
    asked.push('refresh')
    return await Promise.resolve(more.unrefreshed === undefined ? undefined : { code: more.unrefreshed })
  }
  const highestNumber = async ({ shard }: { readonly shard: number }) => await Promise.resolve(40 + shard)
  const cluster = { call, indices: { refresh }, documents: { highestNumber } } as unknown as Cluster
  const signal = new AbortController().signal
  return { asked, bounded: { cluster, index: 'logs', shards: 2, maxElapsedMs: 1000, signal } }
}

describe('an index is read', () => {
  test('up to what every copy has, which a refresh shows', async () => {
    const copies: readonly (readonly Copy[])[] = [
      [
        [false, 9, 5],
        [true, 9, 9],
      ],
      [[true, -1, -1]],
    ]
    const { asked, bounded } = clusterWith([copies])
    expect(await findBoundary(bounded)).toEqual({ upTo: [9, -1] })
    expect(asked).toEqual(['/logs/_stats/docs', 'refresh'])
  })

  test('as soon as the copies have what was written before', async () => {
    const at = (given: number, complete: number): readonly (readonly Copy[])[] => [
      [[true, given, complete]],
      [[true, 3, 3]],
    ]
    const { asked, bounded } = clusterWith([at(9, 7), at(20, 8), at(30, 12)])
    expect(await findBoundary(bounded)).toEqual({ upTo: [12, 3] })
    expect(asked.filter(path => path !== 'refresh')).toHaveLength(3)
    expect(asked.slice(-2)).toEqual(['/logs/_stats/docs', 'refresh'])
  })

  test('with a doubt, if it could not be refreshed', async () => {
    const { bounded } = clusterWith([[[[true, 1, 1]], [[true, 1, 1]]]], { unrefreshed: 'CLUSTER_PRIVILEGE_MISSING' })
    const doubt = 'Sluice could not refresh the index (CLUSTER_PRIVILEGE_MISSING)'
    expect(await findBoundary(bounded)).toEqual({ upTo: [1, 1], doubt })
  })

  test('up to what is visible, if the cluster does not show the numbers of its shards', async () => {
    const doubt = 'the credentials lack the privilege monitor'
    expect(await findBoundary(clusterWith([]).bounded)).toEqual({ upTo: [40, 41], doubt })
    expect(await findBoundary(clusterWith([[[[true, 1, 1]]]]).bounded)).toEqual({ upTo: [40, 41], doubt })
  })
})
