import { answer } from './answers.js'
import { type Exchange, findIndices, permit } from './exchange.js'
import { compileFilterPath } from './filter-path.js'
import { permissions } from './permissions.js'
import { beyondLab } from './query/values.js'
import type { Index } from './store.js'

/** `/{index}/_stats?level=shards`: sequence numbers and bytes of each shard. The lab counts them by index, and has one copy of each shard. */
export function answerStats(exchange: Exchange, name: string): void {
  const asked = new URL(exchange.request.url ?? '/', 'http://lab').searchParams
  if (asked.get('level') !== 'shards') return beyondLab('_stats without level=shards')
  if (!permit(exchange, permissions.stats, name)) return
  const indices = findIndices(exchange, name).map(index => [index.name, { uuid: index.uuid, shards: shardsOf(index) }])
  const stats = { indices: Object.fromEntries(indices) as unknown }
  const filter = asked.get('filter_path')
  const shown = filter === null ? stats : (compileFilterPath(filter).apply(stats) ?? {})
  answer(exchange.response, 200, JSON.stringify(shown))
}

function shardsOf({ settings, lastSeqNo, count, storedBytes }: Index) {
  const numbers = { max_seq_no: lastSeqNo, local_checkpoint: lastSeqNo, global_checkpoint: lastSeqNo }
  const shards = Number(settings['number_of_shards'] ?? 1)
  const copy = {
    routing: { state: 'STARTED', primary: true },
    docs: { count, deleted: 0 },
    store: { size_in_bytes: Math.ceil(storedBytes / shards) },
    seq_no: numbers,
  }
  return Object.fromEntries(Array.from({ length: shards }, (_, shard) => [shard, [copy]]))
}
