/** Cuts a time line into parts that are shown: columns of a chart, rows of a table. */
import { type Bucket, emptyBucket, mergeBucket, type Samples } from './timeline.js'

export interface TimePart {
  /** Milliseconds on the time line. */
  readonly from: number
  readonly to: number
  readonly sums: Readonly<Bucket>
}

/** A last bucket shorter than this part of the others would show a rate of almost no time. */
const LEAST = 0.5

/** Returns the buckets with their times. */
export function timeColumns({ buckets, bucketMs, lengthMs }: Samples): TimePart[] {
  const parts = buckets
    .map((sums, at) => ({ from: at * bucketMs, to: Math.min((at + 1) * bucketMs, lengthMs), sums }))
    .filter(({ from, to }) => to > from)
  const [last, before] = [parts.at(-1), parts.at(-2)]
  if (last === undefined || before === undefined || last.to - last.from >= bucketMs * LEAST) return parts
  return [...parts.slice(0, -2), joinParts([before, last])]
}

/** Returns at most `most` parts, each of as many columns. */
export function rowsOf(columns: readonly TimePart[], most: number): TimePart[] {
  const each = Math.max(1, Math.ceil(columns.length / most))
  const rows: TimePart[] = []
  for (let at = 0; at < columns.length; at += each) rows.push(joinParts(columns.slice(at, at + each)))
  return rows
}

export function joinParts(parts: readonly TimePart[]): TimePart {
  const sums = emptyBucket()
  for (const part of parts) mergeBucket(sums, part.sums)
  return { from: parts[0]?.from ?? 0, to: parts.at(-1)?.to ?? 0, sums }
}

/** Returns an amount per second of a part. */
export function perSecond(amount: number, { from, to }: Pick<TimePart, 'from' | 'to'>): number {
  return (amount * 1000) / Math.max(1, to - from)
}
