/** Says in plain English how much of the plan is used, and when it will be. */
import { forecast, type PlanTraffic } from './forecast.js'

const units = [
  ['TB', 1e12],
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
] as const

/** Returns, for example, `62 of 100 GB used, at this rate 80% on the 23rd`. */
export function sayPlan(traffic: PlanTraffic): string {
  const { bytes, period, since, used } = traffic
  const [unit, size] = units.find(([, one]) => bytes >= one) ?? ['bytes', 1]
  const sum = used(period)
  const counted = since !== undefined && since > period.from ? `, counted since the ${dayName(since)}` : ''
  return `${amount(sum / size)} of ${amount(bytes / size)} ${unit} used${counted}, ${whatIsAhead(traffic, sum)}`
}

function whatIsAhead(traffic: PlanTraffic, sum: number): string {
  const { bytes, period, now } = traffic
  if (sum >= bytes) return `and the next month of the plan begins on the ${dayName(period.until)}`
  const ahead = forecast(traffic)
  if (ahead === undefined) return 'too little history for a forecast'
  const { percent, at } = ahead
  if (at === undefined) return `at this rate ${percent}% at the end of the month`
  return `at this rate ${percent}% ${at <= now ? 'today' : `on the ${dayName(at)}`}`
}

function amount(value: number): string {
  if (value > 0 && value < 0.01) return 'less than 0.01'
  return value < 10 ? String(Number(value.toPrecision(2))) : Math.round(value).toLocaleString('en-US')
}

/** Returns the day of the month, in UTC: `23rd`. */
function dayName(at: number): string {
  const day = new Date(at).getUTCDate()
  const ending = day > 10 && day < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][day % 10] ?? 'th')
  return `${day}${ending}`
}
