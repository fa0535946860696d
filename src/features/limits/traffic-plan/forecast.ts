/** Forecasts the traffic of the rest of the month, from the whole days so far. */
import { DAY_MS, dayOf, type Period } from './period.js'

/** Whole days that a forecast needs. */
const LEAST_DAYS = 2
/** Shares of the plan whose day is worth knowing, in percent. */
const MARKS = [80, 100]

export interface PlanTraffic {
  readonly period: Period
  readonly now: number
  /** Bytes of the plan. */
  readonly bytes: number
  /** The midnight before the first count. Undefined: nothing is counted yet. */
  readonly since: number | undefined
  /** Returns the bytes of a time. */
  used(time: Period): number
}

interface Forecast {
  /** Share of the plan, in percent. */
  readonly percent: number
  /** The midnight before the moment that the share is reached. Absent: the share at the end of the month. */
  readonly at?: number
}

/** Returns undefined if there is too little history. */
export function forecast({ period, now, bytes, since, used }: PlanTraffic): Forecast | undefined {
  const midnight = dayOf(now)
  // Sluice may have begun to count in the middle of a day.
  const from = Math.max(period.from, (since ?? midnight) + DAY_MS)
  const days = (midnight - from) / DAY_MS
  if (days < LEAST_DAYS) return undefined
  const aDay = used({ from, until: midnight }) / days
  const sum = used(period)
  // What today still brings, if today is a day like the others.
  const rest = Math.max(0, aDay - used({ from: midnight, until: period.until }))
  const mark = MARKS.find(one => sum < (one / 100) * bytes)
  if (mark !== undefined && aDay > 0) {
    const missing = (mark / 100) * bytes - sum
    const at = midnight + Math.ceil(Math.max(0, missing - rest) / aDay) * DAY_MS
    if (at < period.until) return { percent: mark, at }
  }
  const end = sum + rest + (aDay * (period.until - midnight - DAY_MS)) / DAY_MS
  return { percent: Math.round((end / bytes) * 100) }
}
