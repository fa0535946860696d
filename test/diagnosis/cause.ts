/** A cause that is planted, and what Sluice has to name first where it is found. */
import type { DoctorOptions, Tools } from '../../src/route/examine/examine-options.js'
import type { FailureCode } from '../../src/base/failure/failure.js'
import type { World } from '../contracts/world.js'
import type { Owner } from '../real/servers/owner.js'
import type { AlikeName } from './alike.js'

/** `nothing`: no finding that anybody has to act on. */
export type Class = FailureCode | 'nothing'

export interface Cause<W = World> {
  /** In words: title of the test, and a row of the document. */
  readonly planted: string
  /** The real part that it is planted on; in the lab, the lab plays it. */
  readonly on: Part
  readonly expected: Class
  /** What the message has to hold besides: it tells causes of one class apart. */
  readonly says?: string
  /** What has to be named too, further down. */
  readonly beside?: FailureCode
  /** Causes that look the same from outside. */
  readonly alike?: AlikeName
  /** Plants it. What lives only as long as the cause belongs to `owner`. */
  plant(world: W, owner: Owner): Promise<Asked> | Asked
}

export type Part =
  | 'Squid'
  | 'microsocks'
  | 'nginx'
  | 'Elasticsearch'
  | 'a server of the test'
  | 'this machine'
  | 'the lab'
  | 'the platform'

/** What is run then. */
export type Asked =
  | { readonly by: 'doctor'; readonly options: DoctorOptions; readonly tools?: Tools }
  | { readonly by: Verb; readonly run: () => Promise<Told> }

type Verb = 'ingest' | 'ingest, then its diagnosis' | 'replay' | 'verify' | 'undo' | 'rollback' | 'filter'

/** The first thing that is said. */
export interface Told {
  readonly code: Class
  readonly message: string
}

/** Passwords and keys that are wrong are secrets too: most are right ones with a typing error. */
export const WRONG = 'wr0ng-s3cret'
