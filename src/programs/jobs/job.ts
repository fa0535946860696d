/** The entries of the queue: jobs, their ranges, and the receipts of ranges. No credentials, and no documents. */
import { createHash } from 'node:crypto'
import type { Failure } from '../../base/failure/failure.js'
import type { InputRange } from '../../pipeline/source/ranges.js'
import type { Counts, Receipt, Rejections } from '../../pipeline/ledger/receipt.js'

/** One `sluice ingest --queue`. */
export interface JobData {
  readonly version: 1
  /** Absolute paths and globs, URLs without credentials, or only indices of another cluster. */
  readonly sources: readonly string[]
  /** Options of the load that are no secrets, by their names in the table. */
  readonly settings: Readonly<Record<string, unknown>>
  /** URL of the cluster without credentials. A worker for another cluster does not take the job. */
  readonly url: string
  /** URL of the cluster that holds the inputs, without credentials. A worker that reads another one, or none, does not take the job. */
  readonly from?: string
  /** Name of the index or alias, for lists. */
  readonly index: string
  /** Most requests at the same time, over all workers. */
  readonly concurrency: number
  /** Size of the ranges of large inputs, and most bytes of a group of small ones. */
  readonly rangeBytes: number
  /** Byte budget for all workers, until the job is reopened. */
  readonly byteBudget?: number
  /** Set if the end of the job is reported to ServiceNow. The process that reports it uses its own access. */
  readonly alarm?: JobAlarm
  /** Folder for dead letters. */
  readonly deadLetters: string
  /** Where the job was made, and when: ISO 8601. */
  readonly host: string
  readonly made: string
  /** Set when all ranges are on their queue. */
  readonly planned?: Planned
  /**
   * When the last range ended that commands before this one have loaded, in milliseconds since the epoch. 0: there is none. Absent until
   * the job begins.
   */
  readonly loadedUntil?: number
  /** Set until the ranges that have failed may be loaded again. */
  readonly retries?: true
}

/** The facts of a job that its incident shows. */
export interface JobAlarm {
  readonly job: string
  readonly title?: string | undefined
  readonly command?: string | undefined
  readonly host?: string | undefined
  readonly fields?: Readonly<Record<string, string>> | undefined
  readonly allowRejected?: boolean | undefined
}

export interface Planned {
  readonly objects: number
  readonly ranges: number
  /** Stored bytes. */
  readonly bytes: number
}

export function addPlanned(one: Planned, other: Planned): Planned {
  const objects = one.objects + other.objects
  return { objects, ranges: one.ranges + other.ranges, bytes: one.bytes + other.bytes }
}

/** The work of one worker at a time: one range of a large object, or a group of small ones. */
export interface RangeData {
  readonly inputs: readonly InputRange[]
  /** Number of their name among the sources of the job. */
  readonly source: number
  /** The index that the job fills. */
  readonly index: string
}

/** The account of a range: counts only. */
export interface RangeReceipt {
  readonly counts: Counts
  readonly rejections: readonly Rejections[]
  readonly bytes: Receipt['bytes']
  readonly requests: number
  readonly retries: number
  readonly elapsedMs: number
  readonly host: string
  readonly deadLetters?: string
  /** Why it could not be loaded to its end. */
  readonly failure?: Failure
}

/** The end of a job on the queue: its receipt, or the reason why it could not begin. */
export type JobEnd = ({ readonly receipt: Receipt } | { readonly failure: Failure }) & {
  /** Whether the alarm of the job has heard of it. */
  readonly isReported?: boolean
}

/** Returns the name of the queue that holds the ranges of a job. */
export function rangesOf(job: string): string {
  return `job-${job}`
}

/** Returns the same id for the same part of the same object, so that a range that is planned twice is queued once. */
export function rangeId(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22)
}
