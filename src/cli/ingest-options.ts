import type { ConnectOptions, IngestOptions } from '../index.js'
import type { Access } from '../options/access.js'
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
    timeoutMs: values.timeout,
    ...present({ staticIps: values.staticIps, ipCheckUrl: values.ipCheckUrl }),
  }
}

/** The library's options for a load, but for its source and who listens. */
export function ingestOptions(effective: Effective, access: Access, index: string): Omit<IngestOptions, 'source'> {
  const { values } = effective
  return {
    ...connectOptions(effective, access),
    index,
    op: values.op,
    ids: values.ids,
    format: values.format,
    batchBytes: values.batchBytes,
    batchMs: values.batchMs,
    compress: values.compress,
    maxElapsedMs: values.maxElapsed,
    onConflict: values.onConflict,
    dryRun: values.dryRun,
    again: values.again,
    spool: values.spool,
    ...present({
      idField: values.idField,
      routingField: values.routingField,
      pipeline: values.pipeline,
      pick: values.pick,
      batchDocs: values.batchDocs,
      deadLetters: values.deadLetters,
      maxRejected: values.maxRejected,
      runId: values.runId,
    }),
  }
}

type Present<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> }

function present<T extends object>(values: T): Present<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<T>
}
