import { isUtf8 } from 'node:buffer'
import type { FaultPlan } from '../faults.js'
import type { Action } from './action-line.js'
import { type Fault, illegalArgument, noSuchIndex } from './answers.js'
import { type Line, readBulk } from './bulk-lines.js'
import { type Written, failureStoreItem, itemWriter } from './bulk-items.js'
import type { Cluster } from './cluster.js'
import { readDocument } from './document.js'
import type { FilterPath } from './filter-path.js'
import { newId } from './ids.js'
import { indexNameFault } from './index-names.js'
import { type Principal, deniedReason, isAllowed, permissions } from './permissions.js'
import { type UpdateScript, runKnownScript } from './scripts.js'
import type { Index, Processed } from './store.js'
import { mergeUpdate, writeTree } from './update-line.js'

export interface BulkRequest {
  readonly body: Buffer
  /** From the path. */
  readonly index: string | undefined
  readonly principal: Principal
  readonly filter: FilterPath | undefined
  readonly requireAlias: boolean
  readonly requireDataStream: boolean
  readonly pipeline: string | undefined
  readonly refreshed: boolean
  /** Whether faults may quote documents. */
  readonly quoteSource: boolean
}

/**
 * Applies a bulk request and returns the body of its answer. Throws RequestRefused if the whole request is refused.
 */
export function applyBulk(cluster: Cluster, faults: FaultPlan, request: BulkRequest): string {
  const started = performance.now()
  const lines = readBulk(request.body, request.index, cluster.major)
  const writer = itemWriter(request.filter)
  const allUtf8 = isUtf8(request.body)
  for (const line of lines) writer.add(line.action.operation, applyLine(cluster, faults, request, line, allUtf8))
  return writer.finish(Math.round(performance.now() - started))
}

function applyLine(cluster: Cluster, faults: FaultPlan, request: BulkRequest, line: Line, allUtf8: boolean): Written {
  const { action } = line
  let { index: name } = line
  const refuse = (fault: Fault, id = action.id ?? null): Written => ({ index: name, id, fault })
  const planted = faults.strike('items')
  if (planted)
    return refuse({ status: planted.status, type: planted.type, reason: planted.reason ?? 'planted by the lab' })

  const refused = refuseBefore(cluster, request, line)
  if (refused) return refused
  const processed = processedIn(cluster, request, line)
  if (processed.isDropped === true) return { index: name, id: action.id ?? newId(), ...dropped }
  name = processed.index ?? name
  const named = cluster.writable(name)
  if (named === 'no-write-index') return refuse(noWriteIndex(name))
  const index = named ?? cluster.createFor(name)
  const id = processed.id ?? action.id ?? newId()
  if (index.isWriteBlocked) {
    const reason = `index [${index.name}] blocked by: [FORBIDDEN/8/index write (api)];`
    return refuse({ status: 403, type: 'cluster_block_exception', reason }, id)
  }
  const quote = { id, quoteSource: request.quoteSource, isUtf8: allUtf8 }
  const written = write(index, line, id, request.body, quote)
  if ('fault' in written) return written
  const done = request.refreshed ? { ...written, refreshed: true } : written
  return action.operation !== 'delete' && faults.strike('failureStore') ? failureStoreItem(done) : done
}

/** Makes the checks that come before an index exists and an id is made. */
function refuseBefore(cluster: Cluster, request: BulkRequest, { action, index }: Line): Written | undefined {
  const refuse = (fault: Fault, id = action.id ?? null): Written => ({ index, id, fault })
  if (!isAllowed(request.principal, permissions.bulk, index)) {
    const reason = deniedReason(request.principal, permissions.bulk, index)
    const made = action.id ?? (action.operation === 'create' || action.operation === 'index' ? newId() : null)
    return refuse({ status: 403, type: 'security_exception', reason }, made)
  }
  if ((request.requireAlias || action.requireAlias) && cluster.behind(index).length === 0) {
    const reason = `no such index [${index}] and [require_alias] request flag is [true] and [${index}] is not an alias`
    return refuse({ status: 404, type: 'index_not_found_exception', reason, more: { index_uuid: '_na_', index } })
  }
  const isStream = cluster.streams.has(index)
  if (isStream && action.operation !== 'create')
    return refuse(illegalArgument('only write ops with an op_type of create are allowed in data streams'))
  if (request.requireDataStream && !isStream) {
    const reason = `[require_data_stream] request flag is [true] and [${index}] is not a data stream`
    return refuse({ status: 404, type: 'resource_not_found_exception', reason })
  }
  const pipeline = pipelineOf(cluster, request, action, index)
  if (pipeline !== undefined && !cluster.pipelines.has(pipeline)) {
    return refuse(illegalArgument(`pipeline with id [${pipeline}] does not exist`))
  }
  if (action.id === '') return refuse(illegalArgument('if _id is specified it must not be empty'))
  if (isStream || cluster.writable(index) !== undefined) return undefined
  if (index.includes('*')) {
    const reason = 'the action indices:admin/auto_create does not support wildcards; the provided index expression(s)'
    return refuse(illegalArgument(`${reason} [${index}] are not allowed`))
  }
  const badName = indexNameFault(index)
  if (badName) return refuse(badName)
  return action.operation === 'delete' ? refuse(noSuchIndex(index)) : undefined
}

/** The answer of the cluster for a document that a pipeline dropped. */
const dropped = { version: -3, result: 'noop', seqNo: -2, status: 200 } as const

/** Updates pass no pipeline. */
function processedIn(cluster: Cluster, request: BulkRequest, { action, index, from, to }: Line): Processed {
  const pipeline = pipelineOf(cluster, request, action, index)
  const process = pipeline === undefined ? undefined : cluster.pipelines.get(pipeline)
  if (process === undefined || (action.operation !== 'index' && action.operation !== 'create')) return {}
  try {
    return process(JSON.parse(request.body.toString('utf8', from, to)) as Record<string, unknown>)
  } catch {
    // It is refused later, as a document that is no JSON.
    return {}
  }
}

/** Returns the pipeline that a document passes: that of its action, of the request, or of its index. */
function pipelineOf(cluster: Cluster, request: BulkRequest, action: Action, index: string): string | undefined {
  const there = cluster.writable(index)
  const ofIndex = there === undefined || there === 'no-write-index' ? undefined : there.settings['default_pipeline']
  const pipeline = action.pipeline ?? request.pipeline ?? (typeof ofIndex === 'string' ? ofIndex : undefined)
  return pipeline === '_none' ? undefined : pipeline
}

function write(index: Index, line: Line, id: string, body: Buffer, quote: Parameters<typeof readDocument>[4]): Written {
  const { operation, version: external } = line.action
  const isWhole = operation === 'index' || operation === 'create'
  const to = isWhole ? withoutReturn(body, line.from, line.to) : line.to
  if (isWhole) {
    const fault = readDocument(index.mapping, body, line.from, to, quote)
    if (fault) return { index: index.name, id, fault }
  }
  if (operation !== 'delete' && Buffer.byteLength(line.action.routing ?? '') > LONGEST_TERM)
    return { index: index.name, id, fault: illegalArgument(immenseRouting) }
  const conflict = conflictWith(index, line.action, id)
  if (conflict !== undefined)
    return refusedBy(index, id, 409, 'version_conflict_engine_exception', `[${id}]: version conflict, ${conflict}`)
  if (operation !== 'delete' && line.action.id !== undefined && index.settings['mode'] === 'time_series') {
    const made = 'FV1aSQAAAZGq'
    const reason = `[1:1] failed to parse: _id must be unset or set to [${made}] but was [${id}] because [${index.name}] is in time_series mode`
    return { index: index.name, id, fault: { status: 400, type: 'document_parsing_exception', reason } }
  }
  if (operation === 'delete') {
    const { version, found } = index.delete(id, external)
    return written(index, id, version, found ? 'deleted' : 'not_found', found ? 200 : 404)
  }
  if (operation === 'update') return update(index, line, id, quote)
  return store(index, id, body, line.from, to, external)
}

const LONGEST_TERM = 32_766
const immenseRouting = `Document contains at least one immense term in field="_routing" (whose length is longer than the max length ${LONGEST_TERM}), all of which were skipped.`

/** Returns why a document is not as its action demands. */
function conflictWith(index: Index, action: Action, id: string): string | undefined {
  const { operation, ifSeqNo, ifPrimaryTerm, version, versionType } = action
  const there = index.get(id)
  if (operation === 'create' && there !== undefined)
    return `document already exists (current version [${index.lastVersionOf(id)}])`
  // An update of a document that is missing says so.
  if (ifSeqNo !== undefined && (operation !== 'update' || there !== undefined)) {
    const required = `required seqNo [${ifSeqNo}], primary term [${ifPrimaryTerm}].`
    if (there === undefined) return `${required} but no document was found`
    if (there.seqNo !== ifSeqNo || ifPrimaryTerm !== 1)
      return `${required} current document has seqNo [${there.seqNo}] and primary term [1]`
  }
  const last = version === undefined ? undefined : index.lastVersionOf(id)
  if (version === undefined || last === undefined || version > last) return undefined
  if (version === last && versionType === 'external_gte') return undefined
  const higher = versionType === 'external_gte' ? 'higher than' : 'higher or equal to'
  return `current version [${last}] is ${higher} the one provided [${version}]`
}

function update(index: Index, { update }: Line, id: string, quote: Parameters<typeof readDocument>[4]): Written {
  const stored = index.get(id)
  if (update?.script !== undefined && (stored?.bytes || update.scriptedUpsert))
    return changeByScript(index, id, update.script, quote)
  if (!stored?.bytes) {
    const upsert = update?.docAsUpsert ? update.doc : update?.upsert
    if (!upsert) return refusedBy(index, id, 404, 'document_missing_exception', `[${id}]: document missing`)
    return storeText(index, id, writeTree(upsert), quote)
  }
  const { text, changed } = mergeUpdate(stored.bytes, update?.doc ?? { members: new Map() })
  if (!changed && update?.detectNoop) return { ...written(index, id, stored.version, 'noop', 200), seqNo: stored.seqNo }
  return storeText(index, id, text, quote)
}

function changeByScript(
  index: Index,
  id: string,
  script: UpdateScript,
  quote: Parameters<typeof readDocument>[4],
): Written {
  const stored = index.get(id)
  const changed = runKnownScript(script, stored?.bytes?.toString())
  if ('status' in changed) return { index: index.name, id, fault: changed }
  if (changed.op === 'index') return storeText(index, id, JSON.stringify(changed.source), quote)
  if (changed.op === 'none' || stored === undefined) return written(index, id, stored?.version ?? -1, 'noop', 200)
  return written(index, id, index.delete(id).version, 'deleted', 200)
}

function storeText(index: Index, id: string, text: string, quote: Parameters<typeof readDocument>[4]): Written {
  const bytes = Buffer.from(text)
  const fault = readDocument(index.mapping, bytes, 0, bytes.length, quote)
  return fault ? { index: index.name, id, fault } : store(index, id, bytes, 0, bytes.length)
}

function store(index: Index, id: string, bytes: Buffer, from: number, to: number, external?: bigint): Written {
  const existed = index.has(id)
  const version = index.put(id, bytes, from, to, external)
  return written(index, id, version, existed ? 'updated' : 'created', existed ? 200 : 201)
}

function written(
  index: Index,
  id: string,
  version: number,
  result: string,
  status: number,
): Written & { seqNo: number } {
  return { index: index.name, id, version, result, seqNo: index.lastSeqNo, status }
}

function noWriteIndex(alias: string): Fault {
  return illegalArgument(
    `no write index is defined for alias [${alias}]. The write index may be explicitly disabled using is_write_index=false or the alias points to multiple indices without one being designated as a write index`,
  )
}

function refusedBy(index: Index, id: string, status: number, type: string, reason: string): Written {
  const more = { index_uuid: index.uuid, shard: '0', index: index.name }
  return { index: index.name, id, fault: { status, type, reason, more } }
}

/** A document ends before the carriage return of its line end. */
function withoutReturn(body: Buffer, from: number, to: number): number {
  return to > from && body[to - 1] === 0x0d ? to - 1 : to
}
