import type { ConnectOptions, IngestOptions, ReplayOptions, ServeOptions } from '../index.js'
import type { Access } from '../options/access.js'
import type { GuardedJson } from '../options/guarded.js'
import type { Effective } from '../options/resolve.js'

/** The library's options for the way to the cluster, from what the user set. */
export function connectOptions({ values, origins }: Effective, access: Access): ConnectOptions {
  return {
    target: present({
      url: values.url,
      apiKey: access.apiKey,
      username: access.username,
      password: access.password,
      ca: access.ca,
      caFingerprint: values.caFingerprint,
      cert: access.cert,
      key: access.key,
      allowPlaintext: values.allowPlaintext,
    }),
    proxy: present({
      url: access.proxy?.url,
      origin: access.proxy?.origin ?? origins.proxy,
      ca: access.proxyCa,
      environmentProxy: values.httpsProxy,
      environmentOrigin: origins.httpsProxy,
      noProxy: values.noProxy,
      direct: values.direct,
      requireProxy: values.requireProxy,
    }),
    concurrency: values.concurrency,
    preflightConnections: values.preflightConnections,
    timeoutMs: values.timeoutMs,
    ...present({ staticIps: values.staticIps, ipCheckUrl: values.ipCheckUrl }),
  }
}

/** The library's options for a load, but for its source and who listens. */
export function ingestOptions(
  effective: Effective,
  access: Access,
  guarded: GuardedJson = {},
): Omit<IngestOptions, 'source'> {
  const { values } = effective
  return {
    ...sendingOptions(effective, access),
    ...guarded,
    op: values.op,
    ids: values.ids,
    format: values.format,
    ...present({
      index: values.index,
      swapAlias: values.swapAlias,
      checkHits: values.checkHits,
      idField: values.idField,
      routingField: values.routingField,
      pipeline: values.pipeline,
      pick: values.pick,
      runId: values.runId,
    }),
  }
}

/** The library's options for a replay, but for its source and who listens. */
export function replayOptions(effective: Effective, access: Access): Omit<ReplayOptions, 'source'> {
  const { values, origins } = effective
  return {
    ...sendingOptions(effective, access),
    // What is set for loads in general is not what these documents were loaded with: that, they say themselves. Nor is it this run.
    ...present({
      index: origins.index === '--index' ? values.index : undefined,
      pipeline: origins.pipeline === '--pipeline' ? values.pipeline : undefined,
      runId: origins.runId === '--run-id' ? values.runId : undefined,
    }),
  }
}

/** The library's options for a receiver, but for who listens. */
export function serveOptions(
  effective: Effective,
  access: Access,
  given: Pick<ServeOptions, 'index' | 'stateDir' | 'token' | 'tls'>,
): ServeOptions {
  const { values } = effective
  return {
    ...connectOptions(effective, access),
    ...given,
    listen: values.listen,
    path: values.servePath,
    maxBody: values.maxBody,
    acceptAnyway: values.acceptAnyway,
    op: values.op,
    // What the library refuses, it names.
    ids: values.ids as ServeOptions['ids'],
    onConflict: values.onConflict,
    batchBytes: values.batchBytes,
    batchMs: values.batchMs,
    compress: values.compress,
    graceMs: values.graceMs,
    ...present({
      idField: values.idField,
      routingField: values.routingField,
      pipeline: values.pipeline,
      batchDocs: values.batchDocs,
      deadLetters: values.deadLetters,
      spoolLimit: values.spoolLimit,
    }),
  }
}

/** What a load and a replay have in common. */
function sendingOptions(effective: Effective, access: Access): Omit<ReplayOptions, 'source'> {
  const { values } = effective
  return {
    ...connectOptions(effective, access),
    batchBytes: values.batchBytes,
    batchMs: values.batchMs,
    compress: values.compress,
    maxElapsedMs: values.maxElapsedMs,
    graceMs: values.graceMs,
    onBlock: values.onBlock,
    onConflict: values.onConflict,
    dryRun: values.dryRun,
    again: values.again,
    spool: values.spool,
    ...present({
      batchDocs: values.batchDocs,
      deadLetters: values.deadLetters,
      maxRejected: values.maxRejected,
      timeBudgetMs: values.timeBudgetMs,
      byteBudget: values.byteBudget,
      spoolLimit: values.spoolLimit,
    }),
  }
}

type Present<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> }

function present<T extends object>(values: T): Present<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<T>
}
