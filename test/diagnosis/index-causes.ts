/** What an index, or the cluster behind it, refuses. Asked of loads in the lab. */
import { writeFile } from 'node:fs/promises'
import { rollback } from '../../src/index.js'
import { lines } from '../support/lab/run-world.js'
import { stopped } from './ask.js'
import type { Cause } from './cause.js'
import { type LoadCause, input, load } from './load-cause.js'
import { asked } from './ways.js'

const refusedBulk = (type: string, reason: string, status: number) =>
  JSON.stringify({ error: { type, reason, root_cause: [] }, status })

/** The cluster answers bulk requests like this. */
const bulk = (
  planted: string,
  expected: Cause['expected'],
  status: number,
  body: string,
  told: Pick<Cause, 'says'> = {},
): LoadCause =>
  load(
    planted,
    expected,
    async ({ world, runs }) => {
      await writeFile(runs.path('a.ndjson'), lines(10))
      const headers = { 'x-elastic-product': 'Elasticsearch', 'content-type': 'application/json' }
      world.lab.control.plant({ bulk: { status, body, headers } })
      return async () => await stopped(runs.load('a.ndjson', { maxElapsedMs: 50 }))
    },
    told,
  )

export const indexCauses: readonly LoadCause[] = [
  bulk(
    'a pipeline that does not exist',
    'REQUEST_REFUSED',
    400,
    refusedBulk('illegal_argument_exception', 'pipeline with id [geo] does not exist', 400),
    { says: 'pipeline with id [geo]' },
  ),
  bulk(
    'a cluster that refuses bulk requests for too long (429)',
    'CLUSTER_OVERLOADED',
    429,
    refusedBulk('es_rejected_execution_exception', 'rejected execution', 429),
  ),
  bulk(
    'a cluster that goes away in the middle (503)',
    'CLUSTER_UNAVAILABLE',
    503,
    refusedBulk('no_master_exception', 'no master', 503),
  ),
  load('bulk requests that get no answer', 'CLUSTER_TIMEOUT', async ({ world, runs }) => {
    await writeFile(runs.path('a.ndjson'), lines(10))
    world.lab.control.plant({ hold: {} })
    return async () => await stopped(runs.load('a.ndjson', { timeoutMs: 1000, maxElapsedMs: 50, batchMs: 50 }))
  }),
  load('a time-series data stream, which makes its ids itself', 'IDS_REFUSED', async ({ world, runs }) => {
    world.lab.control.createDataStream(runs.index, true)
    await writeFile(runs.path('a.ndjson'), lines(30))
    return async () => await stopped(runs.load('a.ndjson'))
  }),
  input('lines that are no JSON, and --max-rejected 0', 'TOO_MANY_REJECTED', `${lines(2)}no\n`, { maxRejected: 0 }),
  input('an --index-body that the cluster does not take', 'INDEX_REQUEST_REFUSED', lines(2), {
    index: undefined,
    swapAlias: 'planted-body',
    indexBody: { nonsense: {} },
  }),
  load('an alias that is the name of an index', 'ALIAS_CONFLICT', async ({ world, runs }) => {
    await asked(world, async client => await client.indices.create({ index: runs.index }))
    await writeFile(runs.path('a.ndjson'), lines(2))
    const swap = { index: undefined, swapAlias: runs.index }
    return async () => await stopped(runs.load('a.ndjson', swap))
  }),
  input('a guarded load with a document that is rejected', 'LOAD_CHECK_FAILED', `${lines(2)}no\n`, {
    index: undefined,
    swapAlias: 'planted-check',
  }),
  load(
    'a rollback of an alias that no guarded load has switched',
    'ROLLBACK_IMPOSSIBLE',
    async ({ world, runs }) => {
      const alias = `${runs.index}-alias`
      await asked(world, async client => await client.indices.create({ index: runs.index, aliases: { [alias]: {} } }))
      const way = await runs.way()
      return async () => await stopped(rollback({ ...way, alias }))
    },
    { by: 'rollback' },
  ),
]
