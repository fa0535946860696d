import { checkDoctorOptions } from '../check-doctor-options.js'
import type { Failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import type { Clock } from '../flow.js'
import { type Way, findWay } from '../open-target.js'
import { systemClock } from '../system-clock.js'
import { type Context, openContext } from './context.js'
import type { DoctorOptions } from './doctor-options.js'
import type { Facts } from './facts.js'
import { findingsOf } from './findings.js'
import { mostRequests } from './most-requests.js'
import { nextStep, policyNeeded } from './next-step.js'
import type { Probe } from './probe.js'
import type { DoctorReport, Step } from './report.js'

/** Probes in the order of the path. What stands in one row does not wait for each other. */
export type Path = readonly (readonly Probe[])[]

export interface Tools {
  readonly clock?: Clock
  /** The machine's time of day, in milliseconds since the epoch. */
  readonly today?: () => number
}

/** Takes every probe of a path, and tells what all that was seen means. Throws the signal's reason for an abort, and nothing else. */
export async function walk(options: DoctorOptions, path: Path, tools: Tools = {}): Promise<DoctorReport> {
  const { clock = systemClock, today = Date.now } = tools
  const way = wayOf(options)
  if ('code' in way) {
    const refused: Step = { name: 'options', ok: false, detail: way.message }
    return conclude({ cluster: shownUrl(options), unusable: way }, [refused], { sent: 0, atMost: 0 })
  }
  const context = openContext(options, way, { clock, today })
  let facts: Facts = { cluster: context.cluster, ...(way.proxy === undefined ? {} : { proxy: way.proxy.display }) }
  const steps: Step[] = []
  for (const row of path) {
    const seen = await Promise.all(row.map(probe => take(probe, context, facts)))
    options.signal?.throwIfAborted()
    for (const one of seen) {
      facts = { ...facts, ...one.facts }
      steps.push(...one.steps)
    }
  }
  return conclude(facts, steps, { sent: context.sent(), atMost: mostRequests(context) })
}

async function take(
  { name, isPure, leaveOut, look }: Probe,
  context: Context,
  facts: Facts,
): Promise<{ facts: Partial<Facts>; steps: readonly Step[] }> {
  const reason = facts.unusable === undefined ? leaveOut?.(context, facts) : 'the options cannot be used'
  if (reason !== undefined)
    return { facts: {}, steps: [{ name, ok: true, detail: `left out: ${reason}`, isLeftOut: true }] }
  const { clock } = context
  const startedAt = clock.now()
  try {
    const seen = await look(context, facts)
    const ms = seen.ms ?? Math.round(clock.now() - startedAt)
    const step = { name, ok: seen.failed !== true, ...(isPure === true ? {} : { ms }), detail: seen.detail }
    return { facts: seen.facts ?? {}, steps: [step, ...(seen.more ?? [])] }
  } catch (error) {
    context.signal?.throwIfAborted()
    // Of a certificate authority that cannot be read, the first connection tells.
    if (!isSluiceError(error)) throw error
    return { facts: { unusable: error.failure }, steps: [{ name, ok: false, detail: error.message }] }
  }
}

function conclude(facts: Facts, steps: readonly Step[], requests: DoctorReport['requests']): DoctorReport {
  const findings = findingsOf(facts)
  const next = nextStep(findings, facts)
  const policy = policyNeeded(facts)
  return {
    ok: findings.every(({ severity }) => severity !== 'error'),
    findings,
    ...(next === undefined ? {} : { next }),
    ...(policy === undefined ? {} : { policy }),
    facts,
    steps,
    requests,
  }
}

function wayOf(options: DoctorOptions): Way | Failure {
  try {
    checkDoctorOptions(options)
    return findWay(options.target, options.proxy)
  } catch (error) {
    if (isSluiceError(error)) return error.failure
    throw error
  }
}

/** Of options that cannot be used: what may be shown of the URL. */
function shownUrl({ target: { url } }: DoctorOptions): string {
  const text = String(url ?? '')
  return URL.canParse(text) && /^https?:/.test(text) ? new URL(text).origin : 'the cluster'
}
