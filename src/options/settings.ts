import type { RejectionLimit } from '../flow.js'

/**
 * Every option in force, after defaults. Bytes, and milliseconds for durations. A type test ties it to the schema, which
 * holds the defaults, the limits and what each means.
 */
export interface Settings {
  /** With its scheme and without credentials; worked out from the cloud id where one is given. */
  readonly url: string | undefined
  readonly cloudId: string | undefined
  readonly apiKey: string | undefined
  readonly apiKeyFile: string | undefined
  readonly username: string | undefined
  readonly password: string | undefined
  readonly passwordFile: string | undefined
  readonly ca: string | undefined
  readonly caFingerprint: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
  /** Complete, with its credentials. Whether it can be used is for the proxy to say. */
  readonly proxy: string | undefined
  readonly proxyFile: string | undefined
  readonly proxyCa: string | undefined
  readonly requireProxy: boolean
  readonly direct: boolean
  readonly allowPlaintext: boolean
  readonly index: string | undefined
  readonly op: 'create' | 'index'
  readonly ids: 'run' | 'field' | 'cluster'
  readonly idField: string | undefined
  readonly routingField: string | undefined
  readonly pipeline: string | undefined
  readonly format: 'auto' | 'ndjson' | 'json'
  readonly pick: string | undefined
  readonly batchBytes: number
  readonly batchDocs: number | undefined
  readonly batchMs: number
  readonly concurrency: number
  readonly compress: 'auto' | 'gzip' | 'none'
  readonly deadLetters: string | undefined
  readonly maxRejected: RejectionLimit | undefined
  /** Milliseconds. */
  readonly maxElapsed: number
  /** Milliseconds. */
  readonly timeout: number
  readonly onBlock: 'stop' | { readonly waitMs: number }
  readonly onConflict: 'reject' | 'skip'
  readonly preflightConnections: number
  readonly dryRun: boolean
  readonly stateDir: string | undefined
  readonly spool: boolean
  /** Bytes. */
  readonly spoolLimit: number | undefined
  readonly runId: string | undefined
  /** Milliseconds. */
  readonly timeBudget: number | undefined
  /** Bytes. */
  readonly byteBudget: number | undefined
  /** Milliseconds. */
  readonly grace: number
  readonly again: boolean
  /** `ADDRESS:PORT`. */
  readonly listen: string
  readonly serveCert: string | undefined
  readonly serveKey: string | undefined
  readonly servePath: string
  readonly serveToken: string | undefined
  readonly serveTokenFile: string | undefined
  readonly noToken: boolean
  /** Bytes. */
  readonly maxBody: number
  readonly acceptAnyway: boolean
  /** The service-management platform's address. */
  readonly servicenowUrl: string | undefined
  readonly servicenowUsername: string | undefined
  readonly servicenowPassword: string | undefined
  readonly servicenowPasswordFile: string | undefined
  readonly servicenowClientId: string | undefined
  readonly servicenowClientSecret: string | undefined
  readonly servicenowClientSecretFile: string | undefined
  readonly servicenowRefreshToken: string | undefined
  readonly servicenowRefreshTokenFile: string | undefined
  readonly servicenowGrant:
    | 'basic'
    | 'password'
    | 'client_credentials'
    | 'refresh_token'
    | 'authorization_code'
    | undefined
  readonly servicenowCa: string | undefined
  readonly tokenFile: string | undefined
  readonly query: string | undefined
  /** With commas. */
  readonly fields: string | undefined
  readonly displayValue: 'false' | 'true' | 'all'
  readonly pageSize: number
  readonly output: string | undefined
  readonly deletions: 'keep' | 'audit' | 'reconcile'
  readonly maxDeleted: RejectionLimit | undefined
  /** Milliseconds. */
  readonly reconcileEvery: number | undefined
  readonly onFailure: 'nothing' | 'incident'
  readonly job: string | undefined
  readonly incidentFields: Readonly<Record<string, string>> | undefined
  readonly alarmHost: string | undefined
  /** Milliseconds. */
  readonly alarmTimeout: number
  readonly alarmUrl: string | undefined
  readonly alarmUsername: string | undefined
  readonly alarmPassword: string | undefined
  readonly alarmPasswordFile: string | undefined
  readonly alarmClientId: string | undefined
  readonly alarmClientSecret: string | undefined
  readonly alarmClientSecretFile: string | undefined
  readonly swapAlias: string | undefined
  /** JSON, or the path of a file of it. */
  readonly indexBody: string | undefined
  readonly checkQuery: string | undefined
  readonly checkHits: number | undefined
  /** URLs of single proxy nodes, with a comma, with their credentials. */
  readonly nodes: string | undefined
  readonly noDirectCheck: boolean
  readonly writeCheck: boolean
  readonly supportBundle: string | undefined
  readonly adminUrl: string
  readonly adminKey: string | undefined
  readonly adminKeyFile: string | undefined
  readonly deployment: string | undefined
  readonly policy: string | undefined
  readonly region: string | undefined
  readonly json: boolean
  readonly quiet: boolean
  readonly staticIps: readonly [string, string] | undefined
  readonly ipCheckUrl: string | undefined
  readonly httpsProxy: string | undefined
  readonly noProxy: string | undefined
}
