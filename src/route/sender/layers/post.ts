/** The lowest layer: posts a body as a bulk request, and judges the answer. */
import type { Cluster } from '../../cluster/open-cluster.js'
import { routeErrorOf } from '../../cluster/client-connection.js'
import { postBulk } from '../../cluster/request.js'
import { canHideSource } from '../../cluster/preflight.js'
import { filterPathFor, judgeAnswer, judgeError } from '../judge-answer.js'
import { judgeQueued } from '../judge-queued.js'
import { NodeWatch } from '../node-watch.js'
import { type BatchIds, type Send, batchIds } from '../send.js'
import { type HolderWatch, readHolders } from './holders.js'
import { Places, type PlacesOptions } from './places.js'

export interface PostOptions extends BatchIds, PlacesOptions {
  readonly cluster: Cluster
  readonly index: string
  readonly pipeline?: string
  readonly onConflict: 'reject' | 'skip'
  /** Whether a document that exists already is a duplicate if the stored one is the same. Default false. */
  readonly comparesConflicts?: boolean
  /** Hears which indices store documents. Absent: nobody wants to know. */
  readonly holders?: HolderWatch
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number
  /** Aborted when Sluice gives up requests under way, and closes their connections. */
  readonly givenUp?: AbortSignal
}

/** Most bytes of an answer that are held, in all and for each item. A refusal with its reason takes a few hundred bytes. */
const ANSWER_BYTES = 1 << 20
const ITEM_BYTES = 4096
/** Elasticsearch quotes the value that it refuses as a whole, once in each cause that Sluice asks for. Its own form of a number is longer. */
const QUOTATIONS = 8

/** `isBehind`: whether an index is behind a name. */
export function post(options: PostOptions, isBehind: (index: string, name: string) => Promise<boolean>): Send {
  const { cluster, ownIds, onConflict, comparesConflicts = false, wallClock, givenUp, onDoubt, holders } = options
  const judge = cluster.isManaged ? judgeQueued : judgeAnswer
  const withoutSource = canHideSource(cluster.preflight.info) ? { include_source_on_error: 'false' } : {}
  const { proxy } = cluster.route
  // Sluice has already reported a node that failed before the load.
  const isTold = cluster.preflight.half !== undefined || onDoubt === undefined
  const nodes = isTold ? undefined : new NodeWatch({ proxy, now: wallClock, onFailing: onDoubt })
  // Ids that somebody else made are not looked for.
  const places = ownIds ? new Places(options, isBehind) : undefined

  return async ({ body, batch, history, wire, answered }) => {
    const { index, pipeline } = batch.addressed?.destination ?? options
    const isNamed = batch.indices !== undefined
    const asking = places?.ask()
    const hear = cluster.isManaged ? undefined : holders?.ask(batch)
    try {
      const answer = await postBulk(cluster, {
        // Else each action line names the index.
        path: isNamed ? '/_bulk' : `/${encodeURIComponent(index)}/_bulk`,
        query: {
          filter_path:
            filterPathFor(batch.operation, batch.script !== undefined, comparesConflicts) +
            fieldsOf(asking?.fields, hear !== undefined),
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
      if (asking !== undefined && answer.statusCode === 200)
        await places?.read(asking, answer.body, { body, index, isNamed })
      if (hear !== undefined && answer.statusCode === 200) readHolders(answer.body, { body, batch }, hear)
      const { items } = body
      const { operation, condition } = batch
      return judge(answer, {
        body: {
          items,
          index,
          isOneOfMany: isNamed,
          operation,
          ...batchIds(batch, options),
          ...history,
          onConflict,
          comparesConflicts,
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
      if (asking !== undefined) places?.end(asking)
    }
  }
}

/** Returns the fields that are wanted of each item, besides its outcome. */
function fieldsOf(asked = '', wantsIndex: boolean): string {
  return wantsIndex && !asked.includes(INDEX) ? asked + INDEX : asked
}

const INDEX = ',items.*._index'
