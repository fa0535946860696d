/** Counts durations in few numbers: four bins for each doubling, so that a quantile is at most a tenth off. */

/** A flat list of pairs: bin, count. Bins ascend. */
export type Histogram = readonly number[]

const BINS_PER_DOUBLING = 4

/** Adds one duration to a list of pairs, in place. */
export function addDuration(histogram: number[], ms: number): void {
  addToBin(histogram, ms <= 1 ? 0 : Math.round(Math.log2(ms) * BINS_PER_DOUBLING), 1)
}

export function addHistogram(to: number[], more: Histogram): void {
  for (let at = 0; at < more.length; at += 2) addToBin(to, more[at] ?? 0, more[at + 1] ?? 0)
}

function addToBin(histogram: number[], bin: number, count: number): void {
  let at = 0
  while (at < histogram.length && (histogram[at] ?? 0) < bin) at += 2
  if (histogram[at] === bin) histogram[at + 1] = (histogram[at + 1] ?? 0) + count
  else histogram.splice(at, 0, bin, count)
}

/** Returns the duration that a part of all durations does not exceed, in milliseconds. Undefined: there are none. */
export function quantile(histogram: Histogram, part: number): number | undefined {
  let all = 0
  for (let at = 1; at < histogram.length; at += 2) all += histogram[at] ?? 0
  if (all === 0) return undefined
  let left = Math.max(1, Math.ceil(all * part))
  for (let at = 0; at < histogram.length; at += 2) {
    left -= histogram[at + 1] ?? 0
    if (left <= 0) return 2 ** ((histogram[at] ?? 0) / BINS_PER_DOUBLING)
  }
  return undefined
}
