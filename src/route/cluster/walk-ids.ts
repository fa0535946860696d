/** Reads every id of an index, as it was at one instant. It reads no documents. */
import { fail, type SluiceError } from '../../base/failure/failure.js'
import { isObject } from '../../base/json/parse-json.js'
import type { Walking } from './documents.js'
import { type ReachedCluster, type Called, call } from './request.js'

const PAGE = 5000
/** Time from one page to the next. The run may wait for access meanwhile. */
const KEEP_ALIVE = '10m'
/** How often the cluster may lose the point in time, with its node or because the run waited too long. */
const MOST_STARTS = 5
/** Approximate bytes of an answer for an id and its place. */
const HIT_BYTES = 80

const shown = 'pit_id,timed_out,_shards.failed,hits.total.value,hits.hits._id,hits.hits.sort'

/**
 * Passes on every id. An index that does not exist has none. Throws SluiceError: INDEX_REQUEST_REFUSED, CLUSTER_*,
 * RUN_INTERRUPTED, and every failure of the route. Needs the privilege `read`.
 */
export async function walkIds(cluster: ReachedCluster, walking: Walking): Promise<void> {
  for (let starts = 1; starts <= MOST_STARTS; starts += 1) if (await walkOnce(cluster, walking)) return
  const observed = `the cluster lost the point in time of ${walking.index} ${MOST_STARTS} times`
  throw fail('CLUSTER_UNAVAILABLE', { cluster: cluster.display, observed })
}

/** Walks once. Returns false if the point in time was lost. */
async function walkOnce(cluster: ReachedCluster, { index, step, begin, page }: Walking): Promise<boolean> {
  let id = await step(async () => await openPoint(cluster, index))
  if (id === undefined) {
    begin(0)
    return true
  }
  let after: Place | undefined
  try {
    for (;;) {
      const pit: string = id
      const place: Place | undefined = after
      const found = await step(async () => await readPage(cluster, pit, place))
      if (found === undefined) return false
      id = found.id
      if (after === undefined) begin(found.documents)
      if (found.last === undefined) return true
      page(found.ids)
      after = found.last
    }
  } finally {
    // Else it would end by itself, some time later.
    await call(cluster, { method: 'DELETE', path: '/_pit', body: { id }, expects: [404] }).catch(() => undefined)
  }
}

/** Opens a point in time. Returns undefined if there is no such index. */
async function openPoint(cluster: ReachedCluster, index: string): Promise<string | undefined> {
  const path = `/${encodeURIComponent(index)}/_pit`
  const query = { keep_alive: KEEP_ALIVE }
  const opened = await call(cluster, { method: 'POST', path, query, expects: ['index_not_found_exception'] })
  if (opened.status === 404) return undefined
  const { id } = opened.json
  if (typeof id === 'string') return id
  throw strange(cluster, 'a point in time without an id')
}

type Place = readonly unknown[]

interface Page {
  readonly id: string
  readonly documents: number
  readonly ids: readonly string[]
  /** The place of the last id. Undefined: there are no more. */
  readonly last: Place | undefined
}

/** Reads a page. Returns undefined if the point in time is lost. */
async function readPage(cluster: ReachedCluster, id: string, after: Place | undefined): Promise<Page | undefined> {
  const asked = await call(cluster, {
    method: 'POST',
    path: '/_search',
    query: { filter_path: shown },
    body: {
      pit: { id, keep_alive: KEEP_ALIVE },
      size: PAGE,
      _source: false,
      sort: [{ _shard_doc: 'asc' }],
      track_total_hits: after === undefined,
      ...(after === undefined ? {} : { search_after: after }),
    },
    answerBytes: PAGE * HIT_BYTES,
    expects: ['search_phase_execution_exception', 'search_context_missing_exception'],
  })
  if (asked.status < 300) return readHits(cluster, asked, id)
  if (JSON.stringify(asked.json).includes('search_context_missing_exception')) return undefined
  const observed = `status ${asked.status}, ${asked.type}: ${asked.reason}`
  throw fail('CLUSTER_UNAVAILABLE', { cluster: cluster.display, observed })
}

function readHits(cluster: ReachedCluster, { json }: Called, id: string): Page {
  const { pit_id: next = id, timed_out: timedOut, _shards: shards, hits = {} } = json
  const failed = isObject(shards) ? Number(shards['failed'] ?? 0) : 0
  // Missing ids would go unnoticed, so the walk must see the whole index.
  if (timedOut === true || failed > 0) {
    const observed = failed > 0 ? `${failed} shards could not be searched` : 'a search ran out of time'
    throw fail('CLUSTER_UNAVAILABLE', { cluster: cluster.display, observed })
  }
  const found = isObject(hits) ? (hits['hits'] ?? []) : undefined
  const total = isObject(hits) && isObject(hits['total']) ? Number(hits['total']['value']) : 0
  if (!Array.isArray(found) || typeof next !== 'string') throw strange(cluster, 'a search without hits')
  const all = found as { readonly _id?: unknown; readonly sort?: unknown }[]
  const ids = all.map(({ _id }) => {
    if (typeof _id !== 'string') throw strange(cluster, 'a hit without an id')
    return _id
  })
  const last = all.at(-1)?.sort
  if (ids.length > 0 && !Array.isArray(last)) throw strange(cluster, 'a hit without sort values')
  return { id: next, documents: total, ids, last: last as Place | undefined }
}

function strange({ display }: ReachedCluster, observed: string): SluiceError {
  return fail('CLUSTER_NOT_ELASTICSEARCH', { cluster: display, observed })
}
