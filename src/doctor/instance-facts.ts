/**
 * Observed facts about the path to ServiceNow. Every probe adds its own part. A skipped probe leaves its part absent.
 */
import type { Failure } from '../failure/failure.js'
import type { ConnectionSeen, NodeSeen, PastSeen, VerdictsSeen } from './way-facts.js'

export interface InstanceFacts {
  readonly instance?: InstanceAsked | undefined
  readonly instanceConnection?: ConnectionSeen | undefined
  readonly instanceAwake?: AwakeSeen | undefined
  /** The login page, which everybody may see who may connect at all. */
  readonly instanceDoor?: VerdictsSeen | undefined
  /** The instance without the proxy and without credentials. */
  readonly instancePast?: PastSeen | undefined
  readonly instanceLogin?: LoginSeen | undefined
  readonly instanceTable?: TableSeen | undefined
  readonly instanceNodes?: readonly NodeSeen[] | undefined
}

export interface InstanceAsked {
  /** Scheme, host and port. */
  readonly url: string
  /** How who asks is proved. */
  readonly grant: string
  /** Absent: connected directly. */
  readonly proxy?: string | undefined
  /** The table that the user named. */
  readonly table?: string | undefined
}

/** The answer to one request without credentials: is it an instance, and is it awake? */
export interface AwakeSeen {
  readonly status?: number | undefined
  readonly failure?: Failure | undefined
}

/** A way to show who asks. */
export type Login =
  | 'the token call'
  | 'Basic authentication at the Table API'
  | 'Basic authentication at another API'
  | 'a token call of client_credentials'

/** Whether the credentials are taken: each kind of login was tried once, so that nobody is locked out by it. */
export interface LoginSeen {
  readonly isTaken: boolean
  /** In this order, each once. */
  readonly tried: readonly Login[]
  readonly failure?: Failure | undefined
  /** Token calls, once it was certain that the user is right: with one of two addresses registered, some are refused. */
  readonly tokens?: { readonly asked: number; readonly given: number } | undefined
  /**
   * The result of another kind of login. `user`: Basic authentication accepts user and password. `token`: the same
   * user gets a working token. `other API`: Basic authentication works elsewhere at the instance. `client`: id and
   * secret of the application registry are right.
   */
  readonly otherwise?: 'user' | 'token' | 'other API' | 'client' | undefined
}

/** A table that was read with credentials that are right. `failure`: why it is not read, although it was asked. */
export interface TableSeen extends VerdictsSeen {
  readonly table: string
  /** Rows of the table by X-Total-Count, and how many of the first ones were shown. */
  readonly total?: number | undefined
  readonly shown?: number | undefined
}

/** Rows that are asked for: enough to see whether any is shown. */
export const ROWS_ASKED = 10
