/** The lowest layer: posts a body as a bulk request, and judges the answer. */
import { type BulkItem, resultsIn } from '../../cluster/bulk-items.js'
import type { Cluster } from '../../cluster/open-cluster.js'
import { routeErrorOf } from '../../cluster/client-connection.js'
import { postBulk } from '../../cluster/request.js'
import { canHideSource } from '../../cluster/preflight.js'
import { addressIn, itemLines, itemStarts } from '../body.js'
import { filterPathFor, judgeAnswer, judgeError } from '../judge-answer.js'
import { judgeQueued } from '../judge-queued.js'
import { NodeWatch } from '../node-watch.js'
import { type BatchIds, type Body, type Send, batchIds } from '../send.js'

export interface PostOptions extends BatchIds {
  readonly cluster: Cluster
  readonly index: string
  readonly pipeline?: string
  readonly onConflict: 'reject' | 'skip'
  /** Whether an answer of before has shown which ids the cluster stores, and in which indices. Default false. */
  readonly knowsPlaces?: boolean
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number
  /** Aborted when Sluice gives up requests under way, and closes their connections. */
  readonly givenUp?: AbortSignal
  /** Reports what Sluice cannot promise for this target, each once. */
  onDoubt?(message: string): void
}

/** Most bytes of an answer that are held, in all and for each item. A refusal with its reason takes a few hundred bytes. */
const ANSWER_BYTES = 1 << 20
const ITEM_BYTES = 4096
/** Elasticsearch quotes the value that it refuses as a whole, once in each cause that Sluice asks for. Its own form of a number is longer. */
const QUOTATIONS = 8

/** `isBehind`: whether an index is behind a name. */
export function post(options: PostOptions, isBehind: (index: string, name: string) => Promise<boolean>): Send {
  const { cluster, ownIds, onConflict, wallClock, givenUp, onDoubt } = options
  const judge = cluster.isManaged ? judgeQueued : judgeAnswer
  const withoutSource = canHideSource(cluster.preflight.info) ? { include_source_on_error: 'false' } : {}
  const { proxy } = cluster.route
  // Sluice has already reported a node that failed before the load.
  const isTold = cluster.preflight.half !== undefined || onDoubt === undefined
  const nodes = isTold ? undefined : new NodeWatch({ proxy, now: wallClock, onFailing: onDoubt })
  /** The first answer shows which ids the cluster stores, and in which indices. */
  let firstAnswer: 'none' | 'asked' | 'read' = options.knowsPlaces === true ? 'read' : 'none'

  async function read(answer: Buffer, body: Body): Promise<void> {
    firstAnswer = 'read'
    const { otherId, elsewhere } = readFirstAnswer(answer, body, options.index)
    const lost = 'if an answer is lost, a document may be stored twice, and verify and undo may not find it'
    if (otherId) onDoubt?.(`documents do not keep their ids (does a pipeline set _id?): ${lost}`)
    if (elsewhere === undefined || (await isBehind(elsewhere.index, elsewhere.instead))) return
    onDoubt?.(
      `documents go to ${elsewhere.index} instead of ${elsewhere.instead} (does a pipeline reroute them?): ${lost}`,
    )
  }

  return async ({ body, batch, history, wire, answered }) => {
    const { index, pipeline } = batch.addressed?.destination ?? options
    // Asks also where documents went, and under which ids. A pipeline may change both.
    const isFirst = ownIds && firstAnswer === 'none'
    if (isFirst) firstAnswer = 'asked'
    try {
      const answer = await postBulk(cluster, {
        // Else each action line names the index.
        path: batch.indices === undefined ? `/${encodeURIComponent(index)}/_bulk` : '/_bulk',
        query: {
          filter_path:
            filterPathFor(batch.operation, batch.script !== undefined) + (isFirst ? ',items.*._id,items.*._index' : ''),
          ...withoutSource,
          ...(pipeline === undefined ? {} : { pipeline }),
        },
        headers: wire?.isGzip === true ? { 'content-encoding': 'gzip' } : {},
        maxAnswerBytes: ANSWER_BYTES + ITEM_BYTES * body.items,
        quotedBytes: QUOTATIONS * body.bytes.length,
        body: wire?.bytes ?? body.bytes,
        ...(givenUp === undefined ? {} : { signal: givenUp }),
      })
      answered?.(answer.wireBytes, answer.statusCode)
      nodes?.answered()
      if (isFirst && answer.statusCode === 200) await read(answer.body, body)
      const { items } = body
      const { operation, condition } = batch
      return judge(answer, {
        body: {
          items,
          index,
          isOneOfMany: batch.indices !== undefined,
          operation,
          ...batchIds(batch, options),
          ...history,
          onConflict,
          condition,
        },
        cluster: cluster.display,
        route: cluster.route,
        now: wallClock(),
      })
    } catch (error) {
      const lost = routeErrorOf(error)
      if (lost !== undefined) nodes?.failed(lost)
      return judgeError(error, cluster.display)
    } finally {
      if (firstAnswer === 'asked' && isFirst) firstAnswer = 'none'
    }
  }
}

interface StoredAs {
  /** Whether a document was stored under another id than the one that was sent. */
  readonly otherId: boolean
  /** An index that by its name is neither the target nor behind a data stream of that name. */
  readonly elsewhere?: { readonly index: string; readonly instead: string }
}

/** Items of the first answer that are looked into. Each takes microseconds, and a pipeline treats most documents alike. */
const LOOKED_AT = 1000

/** Reads from the first answer where documents go, and under which ids. */
export function readFirstAnswer(answer: Buffer, body: Body, index: string): StoredAs {
  const most = Math.min(LOOKED_AT, body.items)
  const starts = itemStarts(body, most)
  let otherId = false
  let elsewhere: StoredAs['elsewhere']
  let at = 0
  for (const item of resultsIn(answer)) {
    if (at === most) break
    if (isStored(item)) {
      const { _id: id, _index: instead = index } = addressIn(itemLines(body, starts, at).action)
      otherId ||= item.id !== undefined && item.id !== id
      if (item.index !== undefined && !isOf(item.index, instead)) elsewhere ??= { index: item.index, instead }
    }
    at += 1
  }
  return { otherId, ...(elsewhere === undefined ? {} : { elsewhere }) }
}

function isStored({ status = 0, failureStore: store }: BulkItem): boolean {
  return status >= 200 && status < 300 && store !== 'used'
}

function isOf(found: string, index: string): boolean {
  return found === index || found.startsWith(`.ds-${index}-`)
}
